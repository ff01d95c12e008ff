#pragma once
// Every number of one name that runs measured, of all machines: what one of them is compared with.
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "orchestrator/engine/event.h"

namespace cupel::store {

/// One number that a run measured. docs/do/operating.md shows the same as SQL.
struct Measured {
  engine::RunId run = 0;
  std::string subject{};  // inventory/subject.h: "a01-n07/gpu3"
  std::string stage{};
  std::string measure{};
  double value = 0;
  std::string unit{};
  engine::WallTime time{};
  std::string profile{};
  std::string criterion{};  // what a verdict held it against; empty: nothing
};

struct MeasuredQuery {
  std::string measure{};
  std::string profile{};  // empty: any
  engine::RunId run = 0;  // 0: any
};

/// In the order of the journals, from the store in this folder, which is of this version.
/// Errors: kStorage.
Result<std::vector<Measured>> measured(const std::filesystem::path& folder,
                                       const MeasuredQuery& query);

}  // namespace cupel::store
