#pragma once
// Reads a subcommand's words: "--name value" in any order, words of its own, and what stands behind
// "--".
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupel::agent {

struct Options {
  std::map<std::string_view, std::string_view> set{};
  std::vector<std::string_view> words{};
  std::vector<std::string_view> behind{};  // behind "--"

  std::string_view value(std::string_view name, std::string_view otherwise = {}) const;

  /// A whole number within the bounds. Errors: kInvalid, naming the option.
  Result<std::uint64_t> amount(std::string_view name, std::uint64_t otherwise, std::uint64_t least,
                               std::uint64_t most) const;
};

/// Errors: kInvalid for an option that is not among `known`, is said twice, or lacks its value.
Result<Options> read_options(std::span<const std::string_view> arguments,
                             std::span<const std::string_view> known);

}  // namespace cupel::agent
