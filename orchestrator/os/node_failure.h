#pragma once
// Why a RAM system could not do its order, by the causes that it reports: what a person is to do.
// Data; pure.
#include <string>
#include <string_view>

namespace cupel::os {

struct NodeFailureRow {
  std::string_view cause;  // as the RAM system reports it
  std::string_view words;  // for people
  std::string_view advice;
};

/// The row of an unknown cause has that word and no more.
NodeFailureRow node_failure(std::string_view cause);

}  // namespace cupel::os
