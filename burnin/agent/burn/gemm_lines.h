#pragma once
// What the processes of `gemm` say to each other beside their reports: the ways in which a product
// may be done, how each was found to work, and what a first product came to. Pure.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/burn/failure.h"
#include "burnin/agent/burn/shapes.h"
#include "burnin/agent/burn/way_choice.h"

namespace cupel::burn {

/// A product, and the ways to do it in the library's own words: good for each GPU of the same
/// model.
struct WrittenRecipe {
  ProductShape shape{};
  bool rotates = false;
  std::vector<std::string> ways{};  // hexadecimal
  friend bool operator==(const WrittenRecipe& one, const WrittenRecipe& other) {
    return one.text() == other.text();
  }

  /// "bf16 8192 8192 8192 1 0011.. 2233..", without a line feed.
  std::string text() const;
};

/// Errors: usage, where it is no recipe.
Outcome<WrittenRecipe> read_recipe(std::string_view text);
/// One a line. Errors: usage.
Outcome<std::vector<WrittenRecipe>> read_recipes(std::string_view text);

/// "0.00125:1:0 0.00131:1:1"
std::string text_of(const WayTrials& trials);
/// Nothing where it is no such text.
std::optional<WayTrials> read_trials(std::string_view text);

/// Bytes as hexadecimal digits, and back. Nothing where these are not exactly `bytes` bytes.
std::string hex_of(const void* bytes, std::size_t count);
bool bytes_of(std::string_view hex, void* bytes, std::size_t count);

}  // namespace cupel::burn
