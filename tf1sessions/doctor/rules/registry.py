"""All rules, in the order in which they are listed."""

from __future__ import annotations

from . import (
    colliding_strategies,
    contrib_missing,
    eager_before_session,
    fork_after_session,
    fraction_out_of_range,
    gpu_taken_whole,
    graph_built_by_threads,
    init_after_restore,
    late_eager_switch,
    late_multi_worker,
    late_seed,
    late_visible_devices,
    make_callable_with_feeds,
    mean_in_replica,
    memory_of_several_sessions,
    numpy_bool_type,
    numpy_float32_scalar,
    numpy_float64_scalar,
    numpy_integer_overflow,
    numpy_lists_as_index,
    ops_in_loop,
    oversubscribed_threads,
    python_bound_threads,
    queue_threads_left,
    queues_not_started,
    queues_not_stopped,
    remote_config,
    reset_inside_graph,
    sessions_left_open,
)
from .rule import Rule

__all__ = ["RULES"]

RULES: dict[str, Rule] = {
    module.RULE.name: module.RULE
    for module in (
        late_visible_devices,
        memory_of_several_sessions,
        gpu_taken_whole,
        fraction_out_of_range,
        remote_config,
        graph_built_by_threads,
        fork_after_session,
        oversubscribed_threads,
        python_bound_threads,
        late_multi_worker,
        colliding_strategies,
        mean_in_replica,
        ops_in_loop,
        make_callable_with_feeds,
        sessions_left_open,
        reset_inside_graph,
        init_after_restore,
        late_seed,
        queues_not_started,
        queues_not_stopped,
        queue_threads_left,
        eager_before_session,
        late_eager_switch,
        contrib_missing,
        numpy_integer_overflow,
        numpy_float64_scalar,
        numpy_float32_scalar,
        numpy_lists_as_index,
        numpy_bool_type,
    )
}
