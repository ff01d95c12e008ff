#pragma once
// What the readers of `facts` and `watch` share: how lines are found, and how a node's own
// numbering becomes the profile's names.
#include <map>

#include "base/json.h"
#include "burnin/stage.h"
#include "inventory/fwd.h"

namespace cupel::burnin {

/// The longest line that is read, and the most rows of one list.
inline constexpr std::size_t kLongestLine = 16u << 20;
inline constexpr std::size_t kMostRows = 10'000;

/// The last line of that kind, as it was written; nothing where there is none.
std::optional<std::string_view> last_line(std::string_view text, std::string_view kind);

/// Errors: kMalformed: cut short, or no JSON object.
Result<json::value> parse_line(std::string_view line);

/// The elements of the list at `path`, at most kMostRows; none where there is no list.
std::span<const json::value> rows_at(const json::value& root, std::string_view path);

/// 1 or 0 of a flag; nothing of anything else.
std::optional<double> flag_at(const json::value& root, std::string_view path);

/// "gpu3" of the place of a GPU that calls itself gpu2 since one before it is missing; other names
/// as they are.
class Names {
 public:
  Names(const inventory::Profile& profile, const std::map<std::string, std::string>& places);
  /// `part`: as the node says it, cleaned.
  std::string of(std::string_view part) const;

 private:
  std::map<std::string, std::string, std::less<>> renamed_;
};

void add(Findings& findings, std::string_view name, std::string part, std::optional<double> value,
         std::string_view unit);

/// What the document or line could not tell itself.
void add_unknown(Findings& findings, const json::value& root);

}  // namespace cupel::burnin
