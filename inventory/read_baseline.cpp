#include "inventory/read_baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "base/paths.h"
#include "base/text.h"
#include "inventory/baseline.h"
#include "inventory/profile.h"
#include "inventory/versions.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;

constexpr std::size_t kMostComponents = 512;
constexpr std::size_t kMostPatterns = 256;  // of one component; so for models and targets
constexpr std::size_t kMostResets = 8;
constexpr std::size_t kMostStones = 8;
constexpr std::size_t kLongestText = 256;
constexpr std::size_t kDigestLength = 64;
constexpr std::chrono::hours kLongestWrite{6}, kLongestWait{24};

constexpr std::array kWays{UpdateWay::bmc, UpdateWay::mstflint, UpdateWay::nvme,
                           UpdateWay::site_tool};
constexpr std::array kResets{FirmwareReset::bmc_restart, FirmwareReset::host_restart,
                             FirmwareReset::host_off,    FirmwareReset::ac_cycle,
                             FirmwareReset::power_drain, FirmwareReset::device_reset};
constexpr std::array kRecoveries{FirmwareRecovery::bmc_restart, FirmwareRecovery::ac_cycle,
                                 FirmwareRecovery::previous_image};

/// A text that is shown, journalled and sent: short, and without what moves a terminal's cursor.
void check_text(YamlFields& fields, std::string_view key, const std::string& text) {
  if (text.size() > kLongestText)
    fields.report(fields.place(key),
                  fmt::format("{} has {} characters: at most {}", key, text.size(), kLongestText));
  else if (printable(text) != text || trimmed(text) != text)
    fields.report(fields.place(key),
                  fmt::format("{} has control characters, or blanks around it", key));
}

std::string read_text(YamlFields& fields, std::string_view key) {
  auto text = fields.text(key).value_or("");
  check_text(fields, key, text);
  if (fields.has(key) && text.empty())
    fields.report(fields.place(key), std::string{key} + " is empty");
  return text;
}

std::vector<std::string> read_texts(YamlFields& fields, std::string_view key, std::size_t most) {
  auto texts = fields.texts(key);
  for (const auto& text : texts) {
    check_text(fields, key, text);
    if (text.empty()) fields.report(fields.place(key), fmt::format("one of {} is empty", key));
  }
  if (texts.size() > most) {
    fields.report(fields.place(key), fmt::format("{} {}: at most {}", texts.size(), key, most));
    texts.resize(most);
  }
  return texts;
}

template <class Words>
using WordOf = Words::value_type;

template <class Words>
std::optional<WordOf<Words>> read_word(YamlFields& fields, std::string_view key,
                                       const std::string& text, const Words& known) {
  std::vector<std::string_view> words;
  for (const auto each : known) {
    words.push_back(to_string(each));
    if (words.back() == text) return each;
  }
  fields.report(fields.place(key),
                fmt::format("{} '{}' is none of {}{}", key, printable(text), fmt::join(words, ", "),
                            did_you_mean(text, std::span{words})));
  return std::nullopt;
}

template <class Words>
std::vector<WordOf<Words>> read_words(YamlFields& fields, std::string_view key,
                                      const Words& known) {
  std::vector<WordOf<Words>> found;
  for (const auto& text : read_texts(fields, key, kMostResets))
    if (const auto word = read_word(fields, key, text, known)) found.push_back(*word);
  return found;
}

std::chrono::seconds read_duration(YamlFields& fields, std::string_view key,
                                   std::chrono::seconds otherwise, std::chrono::seconds most) {
  const auto reported = fields.duration(key);
  if (reported && (*reported <= std::chrono::seconds{0} || *reported > most))
    fields.report(fields.place(key), fmt::format("{} must be more than 0 and at most {}h", key,
                                                 most / std::chrono::hours{1}));
  return reported.value_or(otherwise);
}

/// From the folder of the profile, absolute.
std::string resolved(const std::string& path, const std::string& file) {
  if (path.empty()) return path;
  const auto folder = std::filesystem::path{file}.parent_path();
  return path_from(folder, path).string();
}

FirmwareImage read_image(const YamlValue& value, const std::string& file, Problems& problems) {
  YamlFields fields{value, "image", file, problems};
  FirmwareImage image;
  image.where = fields.place();
  fields.required("file");
  fields.required("sha256");
  image.file = resolved(read_text(fields, "file"), file);
  image.sha256 = lower_case(fields.text("sha256").value_or(""));
  image.signature = resolved(read_text(fields, "signature"), file);
  const bool digest = image.sha256.size() == kDigestLength &&
                      image.sha256.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (fields.has("sha256") && !digest)
    fields.report(fields.place("sha256"),
                  "sha256 must be 64 hexadecimal digits, as sha256sum prints them");
  fields.finish();
  return image;
}

constexpr std::size_t kMostArguments = 64;

SiteTool read_tool(const YamlValue& value, const std::string& file, Problems& problems) {
  YamlFields fields{value, "tool", file, problems};
  SiteTool tool;
  fields.required("program");
  tool.program = read_text(fields, "program");
  tool.arguments = read_texts(fields, "arguments", kMostArguments);
  const bool named = tool.program.starts_with('/') && !tool.program.contains("/../");
  if (fields.has("program") && !named)
    fields.report(fields.place("program"),
                  "program must be an absolute path on the node, such as /opt/vendor/vbios-tool");
  const bool given = std::ranges::any_of(
      tool.arguments, [](const std::string& one) { return one.contains("{image}"); });
  if (!given)
    fields.report(fields.place("program"),
                  "none of the tool's arguments has {image}: it would not know what to write");
  fields.finish();
  return tool;
}

SteppingStone read_stone(const YamlValue& value, const std::string& file, Problems& problems) {
  YamlFields fields{value, "stepping stone", file, problems};
  SteppingStone stone;
  stone.where = fields.place();
  fields.required("below");
  fields.required("version");
  stone.below = read_text(fields, "below");
  stone.version = read_text(fields, "version");
  if (const auto* image = fields.value("image")) stone.image = read_image(*image, file, problems);
  if (!fields.has("image")) fields.required("image");
  fields.finish();
  return stone;
}

void read_stones(YamlFields& fields, const std::string& file, ExpectedFirmware& firmware,
                 Problems& problems) {
  const auto stones = fields.list("stepping_stones");
  if (stones.size() > kMostStones)
    fields.report(fields.place("stepping_stones"),
                  fmt::format("{} stepping stones: at most {}", stones.size(), kMostStones));
  for (const auto& item : stones.first(std::min(stones.size(), kMostStones))) {
    auto stone = read_stone(item, file, problems);
    const bool before = firmware.version.empty() || stone.version.empty() ||
                        compare_versions(stone.version, firmware.version) < 0;
    if (!before)
      fields.report(stone.where, fmt::format("stepping stone {} is not a version before {}",
                                             stone.version, firmware.version));
    firmware.stepping_stones.push_back(std::move(stone));
  }
}

/// What judges the version, and that the keys fit each other.
void read_expected(YamlFields& fields, ExpectedFirmware& firmware) {
  firmware.version = read_text(fields, "version");
  firmware.at_least = read_text(fields, "at_least");
  firmware.below = read_text(fields, "below");
  const bool range = fields.has("at_least") || fields.has("below");
  if (!fields.has("version") && !range)
    fields.report(fields.place(), "firmware needs version, or at_least or below");
  if (fields.has("version") && range)
    fields.report(fields.place("version"),
                  "version and a range (at_least, below) exclude each "
                  "other: a version is written, a range only judged");
  if (fields.has("image") && !fields.has("version"))
    fields.report(fields.place("image"), "an image needs the version that it brings: version");
  const bool upside_down = !firmware.at_least.empty() && !firmware.below.empty() &&
                           !(compare_versions(firmware.at_least, firmware.below) < 0);
  if (upside_down) fields.report(fields.place("below"), "at_least must be a version before below");
}

/// What the ways on the node have and the BMC's has not, and the other way round.
void check_way(YamlFields& fields, const ExpectedFirmware& firmware) {
  const bool site_tool = firmware.way == UpdateWay::site_tool;
  if (site_tool && firmware.image && !firmware.tool)
    fields.report(fields.place("image"),
                  "way: site-tool needs the program that writes it: tool: {program: "
                  "/opt/vendor/vbios-tool, arguments: [\"{image}\"]}");
  if (!site_tool && firmware.tool)
    fields.report(fields.place("tool"), "a tool is only for way: site-tool");
  const auto& follow = firmware.follow;
  const auto device = std::ranges::find(follow, FirmwareReset::device_reset);
  const bool before =
      std::ranges::find(firmware.before, FirmwareReset::device_reset) != firmware.before.end();
  const bool resets = firmware.way == UpdateWay::mstflint || firmware.way == UpdateWay::nvme;
  if (before || (device != follow.end() && (!resets || device != follow.begin())))
    fields.report(fields.place(before ? "before" : "follow"),
                  "device-reset is for way: mstflint and nvme, and comes first in follow");
  if (!firmware.is_written_on_node()) return;
  for (const auto key : {"targets", "force", "before", "recovery"})
    if (fields.has(key))
      fields.report(fields.place(key), std::string{key} + " is only for way: bmc");
}

ExpectedFirmware read_component(const YamlValue& value, const std::string& file,
                                Problems& problems) {
  YamlFields fields{value, "firmware", file, problems};
  ExpectedFirmware firmware;
  fields.required("component");
  firmware.component = read_text(fields, "component");
  firmware.where = fields.place();
  read_expected(fields, firmware);
  firmware.ids = read_texts(fields, "ids", kMostPatterns);
  firmware.models = read_texts(fields, "models", kMostPatterns);
  if (const auto* image = fields.value("image"))
    firmware.image = read_image(*image, file, problems);
  if (const auto way = fields.text("way"))
    firmware.way = read_word(fields, "way", *way, kWays).value_or(firmware.way);
  if (const auto* tool = fields.value("tool")) firmware.tool = read_tool(*tool, file, problems);
  firmware.targets = read_texts(fields, "targets", kMostPatterns);
  firmware.one_by_one = fields.flag("one_by_one").value_or(false);
  if (firmware.one_by_one && !firmware.targets.empty())
    fields.report(fields.place("targets"),
                  "one_by_one takes its targets from the machine's inventory: leave out targets");
  firmware.force = fields.flag("force").value_or(false);
  firmware.after = read_texts(fields, "after", kMostComponents);
  firmware.before = read_words(fields, "before", kResets);
  firmware.follow = read_words(fields, "follow", kResets);
  firmware.takes = read_duration(fields, "takes", firmware.takes, kLongestWrite);
  firmware.settles = read_duration(fields, "settles", firmware.settles, kLongestWait);
  firmware.downgrade = fields.flag("downgrade").value_or(false);
  read_stones(fields, file, firmware, problems);
  firmware.recovery = read_words(fields, "recovery", kRecoveries);
  const auto& recovery = firmware.recovery;
  if (firmware.one_by_one &&
      std::ranges::find(recovery, FirmwareRecovery::previous_image) != recovery.end())
    fields.report(fields.place("recovery"),
                  "previous-image is written back by one upload: leave it out, or one_by_one");
  check_way(fields, firmware);
  fields.finish();
  return firmware;
}

void put_component(ExpectedFirmware firmware, Profile& profile, Problems& problems) {
  auto& all = profile.firmware;
  const auto before = std::ranges::find(all, firmware.component, &ExpectedFirmware::component);
  if (before != all.end() && before->where.file == firmware.where.file)
    problems.push_back({firmware.where, fmt::format("component '{}' is listed twice: first at {}",
                                                    firmware.component, to_string(before->where))});
  if (before != all.end()) all.erase(before);
  all.push_back(std::move(firmware));
}

/// Follows `after` from one component; true where it comes back to it.
bool returns_to(const Profile& profile, const ExpectedFirmware& begin) {
  std::vector<std::string> waiting = begin.after, seen;
  while (!waiting.empty()) {
    const auto name = waiting.back();
    waiting.pop_back();
    if (name == begin.component) return true;
    if (std::ranges::find(seen, name) != seen.end()) continue;
    seen.push_back(name);
    const auto next = std::ranges::find(profile.firmware, name, &ExpectedFirmware::component);
    if (next != profile.firmware.end())
      waiting.insert(waiting.end(), next->after.begin(), next->after.end());
  }
  return false;
}

/// No part runs two versions. Patterns are compared as they are written: what else they have in
/// common shows on a machine, when its updates are planned.
void check_ids(const Profile& profile, Problems& problems) {
  std::map<std::pair<bool, std::string>, const ExpectedFirmware*> known;
  for (const auto& each : profile.firmware) {
    if (each.version.empty()) continue;
    const auto ids = each.ids.empty() ? std::vector{each.component} : each.ids;
    for (const auto& id : ids) {
      const auto [at, fresh] = known.try_emplace({each.is_written_on_node(), id}, &each);
      const auto& other = *at->second;
      if (fresh || other.version == each.version) continue;
      problems.push_back(
          {each.where,
           fmt::format("'{}' wants {} of {}, and '{}' ({}) wants {} of it: call it '{}' to take "
                       "that one's place",
                       each.component, each.version, id, other.component, to_string(other.where),
                       other.version, other.component)});
      break;
    }
  }
}

}  // namespace

void read_baseline(YamlFields& profile_fields, const std::string& file, Profile& profile,
                   Problems& problems) {
  const auto items = profile_fields.list("firmware");
  // An empty list is written on purpose: nothing of what the extended profile wants.
  if (profile_fields.has("firmware") && items.empty()) profile.firmware.clear();
  if (items.size() > kMostComponents)
    profile_fields.report(profile_fields.place("firmware"),
                          fmt::format("{} components: at most {}", items.size(), kMostComponents));
  for (const auto& item : items.first(std::min(items.size(), kMostComponents)))
    put_component(read_component(item, file, problems), profile, problems);
}

void check_baseline(const Profile& profile, Problems& problems) {
  check_ids(profile, problems);
  std::vector<std::string> names;
  for (const auto& each : profile.firmware) names.push_back(each.component);
  for (const auto& each : profile.firmware) {
    for (const auto& name : each.after)
      if (std::ranges::find(names, name) == names.end())
        problems.push_back({each.where, fmt::format("'{}' is to come after '{}', which is no "
                                                    "component of this profile{}",
                                                    each.component, printable(name),
                                                    did_you_mean(name, std::span{names}))});
    for (const auto& other : profile.firmware)
      if (!each.is_written_on_node() && other.is_written_on_node() && other.image &&
          std::ranges::find(each.after, other.component) != each.after.end())
        problems.push_back({each.where, fmt::format("'{}' is written by the BMC, and so before "
                                                    "'{}', which is written on the node",
                                                    each.component, other.component)});
    if (returns_to(profile, each))
      problems.push_back(
          {each.where, fmt::format("'{}' would come after itself: its `after` goes in a circle",
                                   each.component)});
  }
}

}  // namespace cupel::inventory
