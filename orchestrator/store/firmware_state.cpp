#include "orchestrator/store/firmware_state.h"

#include <fmt/format.h>

#include "base/enum_words.h"
#include "base/json.h"
#include "base/text.h"
#include "orchestrator/store/pins.h"

namespace cupel::store {
namespace {

using End = FirmwareState::End;

constexpr std::size_t kLongestWords = 600;

std::string name_of(std::string_view kind, const std::string& node) {
  return fmt::format("firmware-state:{}:{}", kind, node);
}

std::int64_t whole_number_at(const json::value& kept, std::string_view key) {
  const auto* value = find(kept, key);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

}  // namespace

bool is_settled(End end) { return end == End::failed || end == End::done || end == End::forgotten; }

Result<void> keep_firmware_state(Store& store, std::string_view kind, const std::string& node,
                                 const FirmwareState& state) {
  const json::object text{{"end", enum_word<'-'>(state.end)},
                          {"written_by", state.written_by},
                          {"run", state.run},
                          {"step", state.step},
                          {"handle", state.handle},
                          {"held", state.held},
                          {"since", state.since.time_since_epoch().count()},
                          {"words", printable(shortened(state.words, kLongestWords))},
                          {"go_on", state.go_on},
                          {"window", state.window}};
  return store.repin(name_of(kind, node), json::serialize(text));
}

Result<std::optional<FirmwareState>> firmware_state(Store& store, std::string_view kind,
                                                    const std::string& node) {
  const auto kept = store.pinned(name_of(kind, node));
  if (!kept) return std::optional<FirmwareState>{};
  const auto read = parse_json(*kept);
  const auto end = read ? enum_of<End, '-'>(text_at(*read, "end").value_or("")) : std::nullopt;
  if (!end)
    return Error{Code::kStorage,
                 fmt::format("how far the firmware of {} is cannot be read from the store in {}; "
                             "look at the machine; to drop it: cupel firmware forget {}",
                             node, store.folder().string(), node)};
  return FirmwareState{
      .end = *end,
      .written_by = whole_number_at(*read, "written_by"),
      .run = whole_number_at(*read, "run"),
      .step = text_at(*read, "step").value_or(""),
      .handle = text_at(*read, "handle").value_or(""),
      .held = text_at(*read, "held").value_or(""),
      .since = std::chrono::sys_seconds{std::chrono::seconds{whole_number_at(*read, "since")}},
      .words = text_at(*read, "words").value_or(""),
      .go_on = flag_at(*read, "go_on") == true,
      .window = text_at(*read, "window").value_or("")};
}

Result<std::vector<std::string>> nodes_with_firmware_state(const Store& store,
                                                           std::string_view kind) {
  return pinned_behind(store, name_of(kind, ""));
}

std::optional<std::string> firmware_state_text(Store& store, std::string_view kind,
                                               const std::string& node) {
  return store.pinned(name_of(kind, node));
}

Result<void> drop_firmware_state(Store& store, std::string_view kind, const std::string& node) {
  return store.repin(name_of(kind, node), "");
}

}  // namespace cupel::store
