#pragma once
// An operation as calls of the library.
#include "burnin/agent/burn/links/operation.h"
#include "burnin/agent/burn/nccl.h"

namespace cupel::burn {

/// Puts one operation of this rank onto its stream; it runs when all ranks have. In place `send`
/// and `receive` lie within one buffer (in_place_offset). Errors: nccl.
Outcome<> enqueue(const nccl::Library& library, const Shape& shape, int rank, int root,
                  const void* send, void* receive, nccl::Comm comm, nccl::Stream stream);

}  // namespace cupel::burn
