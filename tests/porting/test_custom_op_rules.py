"""The rules for sources of TensorFlow 1 operations: what each changes, and what looks like it and stays."""

from __future__ import annotations

import pytest

from tf1sessions.porting.custom_ops.code import CppSource
from tf1sessions.porting.custom_ops.headers import MOVED, new_address
from tf1sessions.porting.custom_ops.rewriting import Rewritten, rewrite
from tf1sessions.porting.custom_ops.rules import RULES

HEAD = "using namespace tensorflow;\n"

#: The start of a rule's name -> sources before and after; where both are equal, it is a near-miss.
CASES: dict[str, list[tuple[str, str]]] = {
    "Status::OK()": [
        ("return Status::OK();", "return absl::OkStatus();"),
        ("return ::tensorflow::Status::OK();", "return absl::OkStatus();"),
        ("return tensorflow :: Status::OK ( );", "return absl::OkStatus();"),
        ("return rocksdb::Status::OK();", "return rocksdb::Status::OK();"),
        ("return MyStatus::OK();", "return MyStatus::OK();"),
        ('// Status::OK()\nputs("Status::OK()");', '// Status::OK()\nputs("Status::OK()");'),
        ('.Doc(R"doc(\nStatus::OK() "\n)doc")', '.Doc(R"doc(\nStatus::OK() "\n)doc")'),
    ],
    "Status(error::CODE": [
        ('Status(error::INVALID_ARGUMENT, "a")', 'Status(absl::StatusCode::kInvalidArgument, "a")'),
        ('Status s(tensorflow::error::Code::DATA_LOSS, "a");', 'Status s(absl::StatusCode::kDataLoss, "a");'),
        ('MyStatus(error::INTERNAL, "a")', 'MyStatus(error::INTERNAL, "a")'),
        ("if (s.code() == error::NOT_FOUND)", "if (s.code() == error::NOT_FOUND)"),  # there is an operator for it
        ('Status(error::MINE, "a")', 'Status(error::MINE, "a")'),
    ],
    "case error::CODE": [
        ("case error::OK: break;", "case absl::StatusCode::kOk: break;"),
        ("case myerror::OK: break;", "case myerror::OK: break;"),
    ],
    "error::Code x": [
        ("error::Code c = s.code();", "auto c = s.code();"),
        ("error::Code c = error::INTERNAL;", "error::Code c = error::INTERNAL;"),
    ],
    "s.error_message()": [
        ("return s.error_message();", "return std::string(s.message());"),
        ("f(this->state_[i + 1]->status(a, b).error_message().c_str())",
         "f(std::string(this->state_[i + 1]->status(a, b).message()).c_str())"),
        ("int error_message();", "int error_message();"),
        ("grpc::Status s; s.error_message();", "grpc::Status s; s.error_message();"),
        ("return s.error_message(1);", "return s.error_message(1);"),
    ],
    "strings in tensors": [
        ("t.flat<string>()(0)", "t.flat<::tensorflow::tstring>()(0)"),
        ("t.tensor<std::string, 3>()", "t.tensor<::tensorflow::tstring, 3>()"),
        ('.TypeConstraint<string>("T")', '.TypeConstraint<::tensorflow::tstring>("T")'),
        ("std::vector<string> v;", "std::vector<string> v;"),
        ("t.flat<strings>()", "t.flat<strings>()"),
    ],
    "ReadLocked": [
        ("Status ReadLocked(string* key, string* value, bool* a, bool* b)",
         "Status ReadLocked(::tensorflow::tstring* key, ::tensorflow::tstring* value, bool* a, bool* b)"),
        ("Status ReadLocked(tstring* key, tstring* value)", "Status ReadLocked(tstring* key, tstring* value)"),
    ],
    "StringPiece::ToString()": [
        ("void f(const StringPiece& p) { g(p.ToString()); }", "void f(const StringPiece& p) { g(std::string(p)); }"),
        ("void f(StringPiece p) { g(s.ToString()); }", "void f(StringPiece p) { g(s.ToString()); }"),
    ],
    "long long": [
        ("t.flat<long long>()", "t.flat<::tensorflow::int64>()"),
        ("long long int x;", "::tensorflow::int64 x;"),
        ("unsigned long long x;", "unsigned long long x;"),
        ("long x; long_long y;", "long x; long_long y;"),
    ],
    "DebugString()": [
        ("string DebugString() override { return a; }", "string DebugString() const override { return a; }"),
        ("string DebugString() const override;", "string DebugString() const override;"),
    ],
    "PersistentTensor": [
        ("PersistentTensor kept_;", "Tensor kept_;"),
        ("MyPersistentTensor kept_;", "MyPersistentTensor kept_;"),
    ],
    "allocate_persistent": [
        ("c->allocate_persistent(DT_FLOAT, TensorShape({1, 2}), &kept_, &t);",
         "c->allocate_temp(DT_FLOAT, TensorShape({1, 2}), t = &kept_);"),
        ("c->allocate_persistent(type, shape, &kept_, nullptr);", "c->allocate_temp(type, shape, &kept_);"),
        ("c->allocate_persistent(type, shape, &kept_, out, where)",
         "c->allocate_temp(type, shape, *(out) = &kept_, where)"),
        ("c->allocate_persistent(type)", "c->allocate_persistent(type)"),
    ],
    "kept.AccessTensor": [
        ("Tensor* t = kept_.AccessTensor(context);", "Tensor* t = (&kept_);"),
        ("a.AccessTensor();", "a.AccessTensor();"),
    ],
    "allocator->Allocate": [
        ("float* p = a->Allocate<float>(n);",
         "float* p = ::tensorflow::TypedAllocator::Allocate<float>(a, n, ::tensorflow::AllocationAttributes());"),
        ("c->get(x)->Deallocate<float>(p, n);", "::tensorflow::TypedAllocator::Deallocate<float>(c->get(x), p, n);"),
        ("a->AllocateRaw(8, n);", "a->AllocateRaw(8, n);"),
        ("Allocate<float>(n);", "Allocate<float>(n);"),
    ],
    "GUARDED_BY": [
        ("int a GUARDED_BY(mu_);", "int a TF_GUARDED_BY(mu_);"),
        ("void f() EXCLUSIVE_LOCKS_REQUIRED(mu_);", "void f() TF_EXCLUSIVE_LOCKS_REQUIRED(mu_);"),
        ("int a TF_GUARDED_BY(mu_) ABSL_GUARDED_BY(mu_);", "int a TF_GUARDED_BY(mu_) ABSL_GUARDED_BY(mu_);"),
    ],
    "const Shape*": [
        ("const shape_inference::Shape* s;", "shape_inference::ShapeHandle s;"),
        ("const Dimension* d;", "DimensionHandle d;"),
        ("const TensorShape* s; const ShapeList* l;", "const TensorShape* s; const ShapeList* l;"),
    ],
    "ProtoShortDebugString": [
        ("f(ProtoShortDebugString(def()));", "f((def()).ShortDebugString());"),
        ("MyProtoShortDebugString(def);", "MyProtoShortDebugString(def);"),
    ],
    "MakeUnique": [
        ("auto p = MakeUnique<int>(3);", "auto p = std::make_unique<int>(3);"),
        ("auto p = mine::MakeUnique<int>(3);", "auto p = mine::MakeUnique<int>(3);"),
    ],
    "gtl::optional": [
        ("gtl::optional<int> o = gtl::nullopt;", "absl::optional<int> o = absl::nullopt;"),
        ("std::optional<int> o; gtl::optionals x;", "std::optional<int> o; gtl::optionals x;"),
    ],
    "perftools::gputools": [
        ("perftools::gputools::Stream* s;", "::stream_executor::Stream* s;"),
        ("perftools::Other* s;", "perftools::Other* s;"),
    ],
    "tensorflow_gpu_device_info": [
        ("d->tensorflow_gpu_device_info()", "d->tensorflow_accelerator_device_info()"),
        ("d->my_tensorflow_gpu_device_info()", "d->my_tensorflow_gpu_device_info()"),
    ],
    "Cuda…LaunchConfig": [
        ("CudaLaunchConfig c = GetCudaLaunchConfig(n, d);", "GpuLaunchConfig c = GetGpuLaunchConfig(n, d);"),
        ("Cuda2DLaunchConfig c = GetCuda2DLaunchConfig(a);", "Gpu2DLaunchConfig c = GetGpu2DLaunchConfig(a);"),
        ("MyCudaLaunchConfig c;", "MyCudaLaunchConfig c;"),
    ],
    "CUDA_1D_KERNEL_LOOP": [
        ("CUDA_1D_KERNEL_LOOP(i, n) {}", "GPU_1D_KERNEL_LOOP(i, n) {}"),
        ("MY_CUDA_1D_KERNEL_LOOP(i, n) {}", "MY_CUDA_1D_KERNEL_LOOP(i, n) {}"),
    ],
    "CudaAtomicAdd": [
        ("CudaAtomicAdd(p, x); CudaGridRangeX(n);", "GpuAtomicAdd(p, x); GpuGridRangeX(n);"),
        ("CudaAtomicAddMine(p, x); CudaStream s;", "CudaAtomicAddMine(p, x); CudaStream s;"),
    ],
}  # fmt: skip


def rewritten(source: str) -> Rewritten:
    return rewrite(HEAD + source)


@pytest.mark.parametrize("rule", [rule.name for rule in RULES])
def test_rule(rule: str) -> None:
    (cases,) = [cases for start, cases in CASES.items() if rule.startswith(start)]
    for before, after in cases:
        found = rewritten(before)
        assert found.after == HEAD + after
        assert [change.rule for change in found.changes] == ([rule] if before != after else [])
        assert rewrite(found.after).after == found.after
    assert {before == after for before, after in cases} == {True, False}  # a near-miss beside each hit


def test_every_case_is_one_of_a_rule() -> None:
    assert len(CASES) == len(RULES)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("third_party/eigen3/unsupported/Eigen/CXX11/Tensor", "unsupported/Eigen/CXX11/Tensor"),
        ("third_party/tensorflow/core/kernels/bounds_check.h", "tensorflow/core/framework/bounds_check.h"),
        ("tensorflow/core/util/cuda_kernel_helper.h", "tensorflow/core/util/gpu_kernel_helper.h"),
        ("external/cub_archive/cub/device/device_reduce.cuh", "cub/device/device_reduce.cuh"),
        ("tensorflow/core/framework/types.pb_text.h", None),
        ("third_party/tensorflow/core/framework/types.proto.h", "tensorflow/core/framework/types.pb.h"),
        ("tensorflow/core/util/ptr_util.h", None),
        ("tensorflow/core/framework/types.pb.h", "tensorflow/core/framework/types.pb.h"),
        ("my/third_party/eigen3/Eigen/Core", "my/third_party/eigen3/Eigen/Core"),
    ],
)
def test_address_of_a_header(old: str, new: str | None) -> None:
    assert new_address(old) == new


def test_no_new_address_has_moved_itself() -> None:
    assert [new for _, new in MOVED if new and not new.endswith("/") and new_address(new) != new] == []


def test_includes_are_rewritten_where_they_are_code() -> None:
    found = rewrite(
        '#include "tensorflow/core/platform/default/logging.h"\n'
        "#  include <third_party/eigen3/Eigen/Core>\n"
        '// #include "third_party/eigen3/Eigen/Core"\n'
        '#include "tensorflow/core/framework/op_def.pb_text.h"\n'
        '#include "third_party/cub/mine.h"\n',
        own=frozenset({"third_party/cub/mine.h"}),
    )
    assert found.after == (
        '#include "tensorflow/core/platform/logging.h"\n'
        "#  include <Eigen/Core>\n"
        '// #include "third_party/eigen3/Eigen/Core"\n'
        '// #include "tensorflow/core/framework/op_def.pb_text.h"\n'
        '#include "third_party/cub/mine.h"\n'
    )
    assert [change.lines for change in found.changes] == [(1, 2, 4)]


def test_headers_of_new_names_are_added_once() -> None:
    text = HEAD + "void f() { Notification n; auto p = a->Allocate<float>(3); }\n"
    found = rewrite(text)
    assert found.added == (
        '#include "tensorflow/core/framework/typed_allocator.h"\n#include "tensorflow/core/platform/notification.h"\n'
    )
    assert rewrite(found.added + found.after).added == ""
    assert "+#include" in found.diff() and "-void f()" in found.diff()


@pytest.mark.parametrize("text", ["long long f() { return Status::OK(); }\n", "", "\n", "int x; // tensorflow\n", '"'])
def test_source_without_tensorflow_stays(text: str) -> None:
    found = rewrite(text)
    assert (found.after, found.added, found.changes, found.diff()) == (text, "", (), "")


def test_lines_keep_their_numbers() -> None:
    call = "c->allocate_persistent(DT_FLOAT, shape,\r\n    &kept_, &t\r\n  );\r\n"
    macro = "#define KEEP(t) c->allocate_persistent(DT_FLOAT, shape, \\\n  &kept_, &t \\\n  )\n"
    after = rewrite(f"{HEAD}{call}{macro}long\r\nlong x;\n").after
    assert after == (
        f"{HEAD}c->allocate_temp(DT_FLOAT, shape, t = &kept_)\n\n;\r\n"
        "#define KEEP(t) c->allocate_temp(DT_FLOAT, shape, t = &kept_)\\\n\\\n\n::tensorflow::int64\n x;\n"
    )


def test_bare_code_has_the_length_of_the_text() -> None:
    text = 'a /* b\n */ c = "d\\"e" + \'f\' + 1\'000\'000; R"x(g\n)" )x" h // i \\\n j\nk'
    bare = CppSource(text).bare
    assert len(bare) == len(text) and bare.count("\n") == text.count("\n")
    assert bare.split() == ["a", "c", "=", "+", "+", "1'000'000;", "h", "k"]
