#include "orchestrator/firmware/update_handle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/enum_words.h"
#include "base/json.h"

namespace cupel::firmware {
namespace {

std::size_t count_at(const json::value& reported, std::string_view key) {
  const auto number = number_at(reported, key).value_or(0);
  return number > 0 && number < 1e9 ? static_cast<std::size_t>(number) : 0;
}

json::array array_of(const std::vector<std::string>& texts) {
  json::array array;
  for (const auto& text : texts) array.emplace_back(text);
  return array;
}

std::vector<std::string> ids_at(const json::value& reported, std::string_view key) {
  constexpr std::size_t kMostIds = 4096;
  const auto* value = find(reported, key);
  const auto* list = value == nullptr ? nullptr : value->if_array();
  std::vector<std::string> ids;
  if (list == nullptr) return ids;
  for (const auto& one : *list)
    if (one.is_string() && ids.size() < kMostIds) ids.emplace_back(one.get_string());
  return ids;
}

}  // namespace

std::string to_text(const UpdateHandle& handle) {
  return json::serialize(json::object{{"phase", enum_word<'-'>(handle.phase)},
                                      {"component", handle.component},
                                      {"version", handle.version},
                                      {"sha256", handle.sha256},
                                      {"targets", handle.targets},
                                      {"way", handle.ticket.way},
                                      {"task", handle.ticket.task},
                                      {"resets", handle.resets_done},
                                      {"pushed", handle.pushed.time_since_epoch().count()},
                                      {"others", array_of(handle.others)},
                                      {"ids", array_of(handle.ids)},
                                      {"written", array_of(handle.written)},
                                      {"more", handle.more},
                                      {"was_on", handle.was_on},
                                      {"previous", handle.previous},
                                      {"instead_of", handle.instead_of},
                                      {"why", handle.why},
                                      {"refused_way", handle.refused_way},
                                      {"only", array_of(handle.only)},
                                      {"rewritten", array_of(handle.rewritten)},
                                      {"again", handle.again}});
}

Result<UpdateHandle> update_handle_of(std::string_view text) {
  TRY(const auto reported, parse_json(text));
  const auto phase = enum_of<UpdateHandle::Phase, '-'>(text_at(reported, "phase").value_or(""));
  UpdateHandle handle;
  handle.component = text_at(reported, "component").value_or("");
  handle.version = text_at(reported, "version").value_or("");
  if (!phase || handle.component.empty() || handle.version.empty())
    return Error{Code::kMalformed, "the journal's handle is not of a firmware update"};
  handle.phase = *phase;
  handle.sha256 = text_at(reported, "sha256").value_or("");
  handle.targets = count_at(reported, "targets");
  handle.ticket = {text_at(reported, "way").value_or(""), text_at(reported, "task").value_or("")};
  handle.resets_done = count_at(reported, "resets");
  handle.others = ids_at(reported, "others");
  handle.ids = ids_at(reported, "ids");
  handle.written = ids_at(reported, "written");
  handle.more = flag_at(reported, "more") == true;
  handle.was_on = flag_at(reported, "was_on") == true;
  handle.previous = text_at(reported, "previous").value_or("");
  handle.instead_of = text_at(reported, "instead_of").value_or("");
  handle.why = text_at(reported, "why").value_or("");
  handle.refused_way = text_at(reported, "refused_way").value_or("");
  handle.only = ids_at(reported, "only");
  handle.rewritten = ids_at(reported, "rewritten");
  handle.again = flag_at(reported, "again") == true;
  const auto pushed = static_cast<std::int64_t>(number_at(reported, "pushed").value_or(0));
  handle.pushed = std::chrono::sys_seconds{std::chrono::seconds{pushed}};
  return handle;
}

Result<UpdateHandle> remembered_handle_of(std::string_view text, std::string_view node) {
  auto handle = update_handle_of(text);
  if (handle) return handle;
  return Error{Code::kMalformed,
               fmt::format("what is remembered of an update of {} is not of this Cupel, or is "
                           "damaged; look at the machine; to drop it: cupel firmware forget {}",
                           node, node)};
}

}  // namespace cupel::firmware
