#pragma once
// What the files of the store share: the connection, and the border where SOCI's exceptions end.
// For nobody else: SOCI stays behind store.h.
#include <fmt/format.h>
#include <soci/soci.h>

#include "orchestrator/store/store.h"

namespace cupel::store {

struct Store::Database {
  soci::session sql;
};

inline WallTime now() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}
inline std::int64_t count_of(WallTime time) { return time.time_since_epoch().count(); }

/// SOCI throws; nothing above the store does. A full disk, a read-only one and a broken database
/// all mean the same to the engine: nothing can be written down, so nothing may be done.
template <class Verb>
auto guarded(std::string_view what, Verb verb) -> decltype(verb()) {
  try {
    return verb();
  } catch (const std::exception& fault) {
    return Error{Code::kStorage, fmt::format("{}: {}", what, fault.what())};
  }
}

}  // namespace cupel::store
