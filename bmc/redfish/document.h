#pragma once
// JSON of a BMC, bounded in every way before it is built: depth, values, and the memory that all
// documents of that BMC take together. The largest real ones (a DGX H100's) have 400 kB and some
// thousand values; a hostile 15 MB of "[[],[],..." would take 1 GB.
#include <memory>
#include <string>

#include "base/json.h"
#include "base/task.h"
#include "bmc/memory_use.h"

namespace cupel::bmc::redfish {

inline constexpr std::size_t kMostValues = 150'000;  // of one document
inline constexpr std::size_t kDeepest = 64;          // levels
/// Parsed in one go; between two such pieces everybody else on the loop has a turn.
inline constexpr std::size_t kPieceOfDocument = 64u << 10;

/// The first JSON document of a body (some iDRACs send two, one behind the other), behind a byte
/// order mark if there is one. A byte that is no UTF-8 becomes U+FFFD, a raw control character a
/// blank. What it takes
/// counts in `memory`, where there is one, until the value goes. In pieces: others are served
/// meanwhile. `body` must outlive it. Cancel-safe.
/// Errors: kMalformed: no JSON; over one of the limits; no room left in `memory`.
Task<Result<json::value>> read_document(const std::string& body, std::shared_ptr<MemoryUse> memory);

/// The same at once: for what is small.
Result<json::value> document_of(std::string_view body, std::shared_ptr<MemoryUse> memory = {});

/// Puts `from` in the place of `into`. Not by assignment: between values of different memory that
/// is a copy of all of it, which no account knows of.
inline void take_over(json::value& into, json::value&& from) {
  std::destroy_at(&into);
  std::construct_at(&into, std::move(from));
}

}  // namespace cupel::bmc::redfish
