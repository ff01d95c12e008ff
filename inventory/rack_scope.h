#pragma once
// Which racks somebody or something may see: all of them, or a set. Not a list of racks, of which
// an empty one could be taken for all: that is reported as such, and no text, list or default means
// it.
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupel::inventory {

class RackScope {
 public:
  /// No rack at all.
  RackScope() = default;
  static RackScope all();
  /// Errors: kInvalid: none is named, or one by a blank text.
  static Result<RackScope> of(std::span<const std::string> racks);
  /// What text() wrote; anything else is no rack.
  static RackScope parse(std::string_view text);

  bool is_all() const { return all_; }
  bool has(std::string_view rack) const { return all_ || racks_.contains(rack); }
  /// Whether all that `other` has is in here, too.
  bool includes(const RackScope& other) const;
  RackScope common_with(const RackScope& other) const;
  /// By name; nothing where it is all of them.
  std::vector<std::string> racks() const { return {racks_.begin(), racks_.end()}; }
  /// "*"; "a01,a02"; "" of no rack. Two that have the same have the same text.
  std::string text() const;

  friend bool operator==(const RackScope&, const RackScope&) = default;

 private:
  bool all_ = false;
  std::set<std::string, std::less<>> racks_{};
};

struct YamlValue;
class YamlFields;

/// Of the key `racks` of a map and its fields: all of them where it is left out. One that names
/// none is a problem.
RackScope scope_in(YamlFields& fields, const YamlValue& map);

}  // namespace cupel::inventory
