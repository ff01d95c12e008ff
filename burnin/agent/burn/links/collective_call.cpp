#include "burnin/agent/burn/links/collective_call.h"

namespace cupel::burn {
namespace {

nccl::DataType type_of(Scalar scalar) {
  switch (scalar) {
    case Scalar::kInt32:
      return nccl::kInt32;
    case Scalar::kFloat32:
      return nccl::kFloat32;
    case Scalar::kBfloat16:
      return nccl::kBfloat16;
  }
  return nccl::kInt8;
}

/// One message to `to` and one from `from`, within a group.
Outcome<> exchange(const nccl::Library& library, const Shape& shape, const std::byte* send, int to,
                   std::byte* receive, int from, nccl::Comm comm, nccl::Stream stream) {
  const auto type = type_of(shape.scalar);
  TRY(library.check(library->ncclSend(send, shape.count, type, to, comm, stream), "ncclSend",
                    comm));
  return library.check(library->ncclRecv(receive, shape.count, type, from, comm, stream),
                       "ncclRecv", comm);
}

/// The group is ended whatever happens within: it is this thread's.
Outcome<> grouped(const nccl::Library& library, const Shape& shape, int rank, const std::byte* send,
                  std::byte* receive, nccl::Comm comm, nccl::Stream stream) {
  TRY(library.check(library->ncclGroupStart(), "ncclGroupStart", comm));
  Outcome<> put = done();
  if (shape.operation == Operation::kSendRecv) {
    const int next = (rank + 1) % shape.ranks;
    const int before = (rank + shape.ranks - 1) % shape.ranks;
    put = exchange(library, shape, send, next, receive, before, comm, stream);
  } else {
    const auto part = shape.count * bytes_of(shape.scalar);
    for (int peer = 0; peer < shape.ranks && put; ++peer)
      put = exchange(library, shape, send + peer * part, peer, receive + peer * part, peer, comm,
                     stream);
  }
  const auto ended = library->ncclGroupEnd();
  TRY(std::move(put));
  return library.check(ended, "ncclGroupEnd", comm);
}

}  // namespace

Outcome<> enqueue(const nccl::Library& library, const Shape& shape, int rank, int root,
                  const void* send, void* receive, nccl::Comm comm, nccl::Stream stream) {
  const auto type = type_of(shape.scalar);
  switch (shape.operation) {
    case Operation::kAllReduce:
      return library.check(
          library->ncclAllReduce(send, receive, shape.count, type, nccl::kSum, comm, stream),
          "ncclAllReduce", comm);
    case Operation::kAllGather:
      return library.check(library->ncclAllGather(send, receive, shape.count, type, comm, stream),
                           "ncclAllGather", comm);
    case Operation::kReduceScatter:
      return library.check(
          library->ncclReduceScatter(send, receive, shape.count, type, nccl::kSum, comm, stream),
          "ncclReduceScatter", comm);
    case Operation::kBroadcast:
      return library.check(
          library->ncclBroadcast(send, receive, shape.count, type, root, comm, stream),
          "ncclBroadcast", comm);
    case Operation::kAllToAll:
    case Operation::kSendRecv:
      return grouped(library, shape, rank, static_cast<const std::byte*>(send),
                     static_cast<std::byte*>(receive), comm, stream);
  }
  return Failure{.code = "usage", .message = "no such operation"};
}

}  // namespace cupel::burn
