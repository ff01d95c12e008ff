#include "orchestrator/certificate/media_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "burnin/disk/media.h"
#include "orchestrator/report/summary.h"

namespace cupel::certificate {
namespace {

constexpr std::size_t kMostMedia = 1'024;  // of a node

/// When the last step ended that erases media.
engine::WallTime erase_ended(const record::NodeRecord& record) {
  engine::WallTime ended{};
  for (const auto& step : record.steps)
    if (burnin::erases_media(step.name)) ended = std::max(ended, step.ended);
  return ended;
}

}  // namespace

json::array media_json(const record::NodeRecord& record) {
  json::array all;
  const auto ended = report::utc(erase_ended(record));
  for (const auto& medium : burnin::media_in(record.facts)) {
    json::object object{{"serial", medium.serial},      {"name", medium.drive},
                        {"model", medium.model},        {"result", medium.result},
                        {"seen_by", "the node itself"}, {"at", ended}};
    if (medium.result == "erased") {
      object["method"] = medium.method;
      object["technique"] = medium.technique;
      object["tool"] = medium.tool;
      object["verification"] = medium.verification;
    } else {
      object["why"] = medium.why;
    }
    all.push_back(std::move(object));
  }
  return all;
}

Result<std::vector<CertifiedMedium>> read_media(const json::value& node, std::string_view name) {
  std::vector<CertifiedMedium> all;
  const auto* media = find(node, "media");
  if (media == nullptr) return all;
  if (!media->is_array() || media->get_array().size() > kMostMedia)
    return Error{Code::kMalformed,
                 fmt::format("\"media\" of {} is no list of {} at most", name, kMostMedia)};
  for (const auto& each : media->get_array()) {
    const auto word = [&](std::string_view key) {
      return printable(text_at(each, key).value_or(""));
    };
    CertifiedMedium medium{word("serial"), word("result"), word("method"), word("technique"),
                           word("tool"),   word("why"),    word("at")};
    const bool erased = medium.result == "erased";
    const bool whole = medium.method == "Purge" || medium.method == "Clear";
    if (medium.serial.empty() || medium.result.empty() || erased != whole)
      return Error{Code::kMalformed,
                   fmt::format("a medium of {} has no serial number, or its result and its method "
                               "contradict each other",
                               name)};
    all.push_back(std::move(medium));
  }
  return all;
}

}  // namespace cupel::certificate
