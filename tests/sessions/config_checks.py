"""SessionConfig: what it refuses, and that a ConfigProto comes back as it went in. Run by test_config.py."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
import random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

import tf1sessions
from tf1sessions import errors
from tf1sessions.runtime import tf

Config = tf1sessions.SessionConfig


def refused(**fields: Any) -> errors.ConfigError:
    try:
        config = Config(**fields)
    except errors.ConfigError as error:
        return error
    raise AssertionError(f"{fields} was taken: {config}")


def check_wrong_values_name_field_value_and_range() -> None:
    nan, inf = math.nan, math.inf
    table: dict[str, list[Any]] = {
        "memory_fraction": [0, 0.0, -0.1, -0.0, nan, inf, -inf, 1.0001, 2, "0.5", True, [0.5], b"1"],
        "memory_limit_mb": [0, -1, 0.0, nan, inf, "100", True, (1,)],
        "intra_op_threads": [0, -1, 1.0, 1.5, "2", True, 2**31, nan],
        "inter_op_threads": [0, -1, 1.0, 1.5, "2", False, 2**31, nan],
        "seed": [-1, 1.0, "1", True, 2**63],
        "execution": ["", "Auto", "caller ", "thread", None, 1],
        "graph_optimization": ["on", "OFF", "", None, True],
        "lane": ["", "GPU:0", "/gpu:0", "/device:GPU", "/device:TPU:0", "/device:GPU:0/", 0],
        "visible_devices": ["0", "0,1", b"0", (), [], (-1,), (0, 0), (1.0,), (True,), ("0",), 0, (None,)],
        "allow_growth": [1, 0, None, "yes"],
        "per_session_threads": [1, "no"],
        "soft_placement": [0, None],
        "log_device_placement": [1.0],
        "unified_memory": [1, None],
        "rest": ["text", None, b"\xff\xff\xff"],
    }
    for field, values in table.items():
        for value in values:
            error = refused(**{field: value})
            text = str(error)
            assert field in text and repr(value) in text and "SessionConfig" in text, (field, value, text)
            assert isinstance(error, ValueError)
            assert error.field == field
    assert {item.name for item in dataclasses.fields(Config)} == set(table)


def check_near_misses_are_taken() -> None:
    for fields in (
        {"memory_fraction": 1},
        {"memory_fraction": 1.0},
        {"memory_fraction": 1e-9},
        {"memory_fraction": 1.5, "unified_memory": True},
        {"memory_fraction": 0.5, "unified_memory": True},
        {"memory_limit_mb": 0.5},
        {"memory_limit_mb": 100},
        {"intra_op_threads": 1, "inter_op_threads": 2**31 - 1},
        {"seed": 0},
        {"seed": 2**63 - 1},
        {"visible_devices": (0,)},
        {"visible_devices": [1, 0]},
        {"execution": "pool", "graph_optimization": "off"},
        {"lane": "/device:CPU:0"},
        {"lane": "/device:GPU:12"},
    ):
        config = Config(**fields)
        again = Config.from_proto(config.to_proto(), execution=config.execution, seed=config.seed)
        assert dataclasses.replace(again, lane=config.lane) == config or (
            # TensorFlow's proto cannot say "unified memory" for a fraction of at most 1.
            fields == {"memory_fraction": 0.5, "unified_memory": True}
        ), config


def check_fields_that_exclude_each_other() -> None:
    for fields in ({"memory_fraction": 0.5, "memory_limit_mb": 100}, {"unified_memory": True}):
        text = str(refused(**fields))
        assert all(name in text for name in fields), text


def check_a_config_is_a_value() -> None:
    config = Config(memory_fraction=0.5, visible_devices=(1, 0), seed=3)
    same = Config(memory_fraction=0.5, visible_devices=[1, 0], seed=3)
    assert config == same and hash(config) == hash(same) and len({config, same}) == 1
    assert pickle.loads(pickle.dumps(config)) == config == copy.deepcopy(config) == dataclasses.replace(config)
    assert dataclasses.replace(config, seed=4) != config
    for name in ("seed", "execution", "new_name"):
        try:
            setattr(config, name, 1)
        except (AttributeError, TypeError):
            continue
        raise AssertionError(f"{name} could be set")
    assert "memory_fraction=0.5" in repr(config) and "rest" not in repr(config)
    error = refused(seed=-1)
    assert pickle.loads(pickle.dumps(error)).field == "seed"


def check_protos_become_fields() -> None:
    proto = tf.ConfigProto(
        intra_op_parallelism_threads=2,
        inter_op_parallelism_threads=3,
        use_per_session_threads=True,
        allow_soft_placement=True,
        log_device_placement=True,
    )
    proto.gpu_options.per_process_gpu_memory_fraction = 0.25
    proto.gpu_options.allow_growth = True
    proto.gpu_options.visible_device_list = "1,0"
    proto.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    proto.graph_options.rewrite_options.disable_meta_optimizer = True
    assert Config.from_proto(proto, execution="pool", seed=5) == Config(
        memory_fraction=0.25,
        allow_growth=True,
        visible_devices=(1, 0),
        intra_op_threads=2,
        inter_op_threads=3,
        per_session_threads=True,
        execution="pool",
        soft_placement=True,
        log_device_placement=True,
        graph_optimization="off",
        seed=5,
    )
    assert Config.from_proto(tf.ConfigProto()) == Config()
    assert Config().to_proto() == tf.ConfigProto()
    unified = tf.ConfigProto()
    unified.gpu_options.per_process_gpu_memory_fraction = 1.5
    assert Config.from_proto(unified) == Config(memory_fraction=1.5, unified_memory=True)
    for wrong in (None, {}, "text", tf.GPUOptions(), tf.ConfigProto):
        try:
            Config.from_proto(wrong)
        except errors.ConfigError as error:
            assert "ConfigProto" in str(error)
            continue
        raise AssertionError(f"{wrong!r} was taken")


def _text(message: Any) -> bytes:
    return bytes(message.SerializeToString(deterministic=True))


def check_strange_protos_come_back() -> None:
    def proto(change: Any) -> Any:
        made = tf.ConfigProto()
        change(made)
        return made

    gpu = [
        *({"visible_device_list": text} for text in ("1,0", " 0", "0 ,1", "00", "0,", ",", "a", "0,0", "-1", "٣", "²")),
        *({"per_process_gpu_memory_fraction": value} for value in (1.5, 1.0, 1e-12, 0.0)),
        *({"per_process_gpu_memory_fraction": value} for value in (-0.5, math.nan, math.inf)),
        {"allow_growth": True},
        {"allow_growth": False},
        {"allocator_type": "BFC", "polling_active_delay_usecs": 3},
    ]
    changes = [lambda made, fields=fields: made.gpu_options.MergeFrom(tf.GPUOptions(**fields)) for fields in gpu]
    changes += [
        lambda made: setattr(made, "inter_op_parallelism_threads", -1),
        lambda made: setattr(made, "intra_op_parallelism_threads", -7),
        lambda made: made.session_inter_op_thread_pool.add(num_threads=2),
        lambda made: made.device_count.update({"GPU": 0, "CPU": 3}),
        lambda made: made.gpu_options.experimental.virtual_devices.add(memory_limit_mb=[100, 200]),
        lambda made: made.gpu_options.experimental.virtual_devices.add(memory_limit_mb=[100]),
        lambda made: made.gpu_options.experimental.virtual_devices.add(memory_limit_mb=[100], priority=[1]),
        lambda made: made.gpu_options.experimental.virtual_devices.add(memory_limit_mb=[0]),
        lambda made: made.gpu_options.experimental.virtual_devices.add(memory_limit_mb=[-5]),
        lambda made: made.gpu_options.experimental.virtual_devices.add(memory_limit_mb=[math.nan]),
        lambda made: made.gpu_options.experimental.virtual_devices.add(),
        lambda made: setattr(made.graph_options.optimizer_options, "opt_level", -1),
        lambda made: setattr(made.graph_options.rewrite_options, "disable_meta_optimizer", True),
        lambda made: made.graph_options.SetInParent(),
        lambda made: made.gpu_options.experimental.SetInParent(),
        lambda made: setattr(made, "operation_timeout_in_ms", 50),
    ]
    for number, change in enumerate(changes):
        before = proto(change)
        after = Config.from_proto(before).to_proto()
        # A sub-message that is there and empty says nothing; that it was there is the one thing not kept.
        assert _filled(after) == _filled(before), (number, str(before), str(after))
    for first in changes[:4]:
        for second in changes[-12:]:
            before = proto(first)
            second(before)
            assert _filled(Config.from_proto(before).to_proto()) == _filled(before), str(before)


def _filled(message: Any) -> bytes:
    """The proto without empty sub-messages, as bytes (so that nan equals nan)."""
    made = type(message)()
    made.CopyFrom(message)

    def drop(part: Any) -> None:
        for field, value in part.ListFields():
            if field.type == FieldDescriptor.TYPE_MESSAGE and hasattr(value, "ListFields"):
                drop(value)
                if not value.ListFields():
                    part.ClearField(field.name)

    drop(made)
    return _text(made)


def _fill(message: Any, chance: random.Random, depth: int = 0) -> None:
    """Gives random fields random values; half of those that SessionConfig has a name for."""
    for field in message.DESCRIPTOR.fields:
        if chance.random() > 0.3:
            continue
        values = {
            FieldDescriptor.CPPTYPE_BOOL: (True, False),
            FieldDescriptor.CPPTYPE_INT32: (-1, 0, 1, 2, 2**31 - 1),
            FieldDescriptor.CPPTYPE_INT64: (-1, 0, 1, 2**40),
            FieldDescriptor.CPPTYPE_DOUBLE: (-0.5, 0.0, 0.25, 1.0, 1.5, 1e300),
            FieldDescriptor.CPPTYPE_FLOAT: (-1.0, 0.0, 0.5, 100.0),
            FieldDescriptor.CPPTYPE_STRING: ("", "0", "1,0", " 0", "0,0", "00", "text"),
            FieldDescriptor.CPPTYPE_ENUM: [
                value.number for value in (field.enum_type.values if field.enum_type else ())
            ],
        }.get(field.cpp_type)
        repeated = hasattr(getattr(message, field.name), "extend") or hasattr(getattr(message, field.name), "update")
        if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
            if field.message_type.GetOptions().map_entry or depth > 3:
                continue
            if repeated:
                for _ in range(chance.randint(1, 2)):
                    _fill(getattr(message, field.name).add(), chance, depth + 1)
            else:
                _fill(getattr(message, field.name), chance, depth + 1)
        elif values and repeated:
            getattr(message, field.name).extend(chance.choices(values, k=chance.randint(1, 3)))
        elif values:
            setattr(message, field.name, chance.choice(values))


def check_random_protos_come_back() -> None:
    chance = random.Random(5)
    named = 0
    for _ in range(1500):
        proto = tf.ConfigProto()
        _fill(proto, chance)
        config = Config.from_proto(proto)
        assert _filled(config.to_proto()) == _filled(proto), str(proto)
        assert Config.from_proto(config.to_proto()) == config
        assert pickle.loads(pickle.dumps(config)) == config
        named += config != dataclasses.replace(Config(), rest=config.rest)
    assert named > 500, named
