#include "burnin/disk/media.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "burnin/stage.h"

namespace cupel::burnin {
namespace {

constexpr std::string_view kFact = "media.";

// A format that erases user data may leave blocks that are not mapped: Clear. The others are named,
// or are as strong as what is named, under Purge. Source: NIST SP 800-88 Rev. 1, Table A-8; NVM
// Express base specification 2.0, Sanitize (all media of the subsystem, caches too).
constexpr std::array kTechniques{
    EraseTechnique{"sanitize cryptographic erase", "Purge", "nvme sanitize --sanact=4", 4},
    EraseTechnique{"sanitize block erase", "Purge", "nvme sanitize --sanact=2", 2},
    EraseTechnique{"sanitize overwrite", "Purge", "nvme sanitize --sanact=3", 3},
    EraseTechnique{"format cryptographic erase", "Purge", "nvme format --ses=2", 0},
    EraseTechnique{"format user data erase", "Clear", "nvme format --ses=1", 0},
};

}  // namespace

const EraseTechnique* erase_technique(std::string_view name) {
  const auto* found = std::ranges::find(kTechniques, name, &EraseTechnique::name);
  return found == kTechniques.end() ? nullptr : found;
}

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
