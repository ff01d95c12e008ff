#include "burnin/disk/media.h"

#include "base/json.h"
#include "burnin/stage.h"

namespace cupel::burnin {
namespace {

constexpr std::string_view kFact = "media.";

}  // namespace

std::pair<std::string, std::string> fact_of(const ErasedMedium& medium) {
  return {std::string{kFact} + medium.serial,
          json::serialize(json::object{{"drive", medium.drive},
                                       {"model", medium.model},
                                       {"result", medium.result},
                                       {"method", medium.method},
                                       {"technique", medium.technique},
                                       {"tool", medium.tool},
                                       {"verification", medium.verification},
                                       {"why", medium.why}})};
}

std::vector<ErasedMedium> media_in(const std::map<std::string, std::string, std::less<>>& facts) {
  std::vector<ErasedMedium> all;
  for (const auto& [name, text] : facts) {
    if (!name.starts_with(kFact)) continue;
    const auto value = parse_json(text);
    if (!value) continue;
    const auto word = [&](std::string_view key) { return text_at(*value, key).value_or(""); };
    all.push_back({name.substr(kFact.size()), word("drive"), word("model"), word("result"),
                   word("method"), word("technique"), word("tool"), word("verification"),
                   word("why")});
  }
  return all;
}

bool erases_media(std::string_view step) { return base_name(step) == "sanitize"; }

}  // namespace cupel::burnin
