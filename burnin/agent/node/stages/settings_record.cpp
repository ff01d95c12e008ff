#include "burnin/agent/node/stages/settings_record.h"

#include <algorithm>
#include <functional>

#include "base/text.h"

namespace cupel::agent {
namespace {

using namespace settings_place;

constexpr std::string_view kHeader = "cupel-settings|1|";

std::string own_header(const Node& node) {
  return std::string{kHeader} + node.tree.text("/proc/sys/kernel/random/boot_id").value_or("");
}

/// Empty where there is no such file. Errors: kFailed.
Result<std::string> text_of(const Node& node, std::string_view path) {
  auto text = node.settings.read(std::string{path});
  if (!text && text.error().code == Code::kNotFound) return std::string{};
  return text;
}

Error malformed(std::string_view path, std::string_view line) {
  return Error{Code::kMalformed, std::string{path} + " has a line that is none of ours, '" +
                                     shortened(printable(line), 80) +
                                     "': read it, set by hand what it says, then remove it"};
}

/// "KEY|PART|VALUE": a value may have any sign but the end of a line. Nothing of another line.
std::optional<KeptSetting> kept_of(std::string_view line) {
  const auto first = line.find('|');
  const auto second = first == line.npos ? line.npos : line.find('|', first + 1);
  if (first == 0 || second == line.npos) return std::nullopt;
  return KeptSetting{
      {std::string{line.substr(0, first)}, std::string{line.substr(first + 1, second - first - 1)}},
      std::string{line.substr(second + 1)}};
}

std::string text_of(const KeptSettings& all) {
  std::string text;
  for (const auto& [setting, value] : all)
    text += setting.key + "|" + setting.part + "|" + value + "\n";
  return text;
}

/// Kept by the GPU itself. Source: NVIDIA, nvidia-smi(1): the ECC mode is persistent; MIG User
/// Guide, "MIG mode persists across system reboots" on A100.
bool outlives_a_restart(const KeptSetting& kept) {
  return kept.setting.key == "gpu.ecc" || kept.setting.key == "gpu.mig";
}

class NoSettings final : public Settings {
 public:
  std::string unsafe(const std::string& path) const override { return path + kNotHere; }
  Result<void> make_folder(const std::string& path) override { return refused(path); }
  Result<std::string> read(const std::string& path) const override { return refused(path); }
  Result<void> replace(const std::string& path, std::string_view) override { return refused(path); }
  void remove(const std::string&) override {}
  Result<void> keep_program(const std::string& path) override { return refused(path); }
  Result<void> set(const std::string& path, std::string_view) override { return refused(path); }
  std::int64_t now() const override { return 0; }

 private:
  static constexpr const char* kNotHere = ": nothing is changed on this node";
  static Error refused(const std::string& path) { return {Code::kFailed, path + kNotHere}; }
};

}  // namespace

Settings& no_settings() {
  static NoSettings none;
  return none;
}

const KeptSetting* find_kept(const KeptSettings& all, const Setting& setting) {
  const auto found =
      std::ranges::find_if(all, [&](const auto& each) { return each.setting.is(setting); });
  return found == all.end() ? nullptr : &*found;
}

GaveUp why_record_unsafe(const Node& node) { return node.settings.unsafe(std::string{kFolder}); }

Result<SettingsRecord> read_record(const Node& node) {
  TRY(const auto text, text_of(node, kBefore));
  SettingsRecord record;
  if (text.empty()) return record;
  const auto all = lines(text);
  if (!text.starts_with(kHeader)) return malformed(kBefore, all.front());
  for (const auto line : all) {
    if (line.empty() || line.starts_with(kHeader)) continue;
    auto kept = kept_of(line);
    if (!kept) return malformed(kBefore, line);
    record.before.push_back(*std::move(kept));
  }
  record.there = true;
  record.this_boot = all.front() == own_header(node);
  return record;
}

Result<KeptSettings> read_expected(const Node& node) {
  TRY(const auto text, text_of(node, kExpectedFile));
  KeptSettings expected;
  for (const auto line : lines(text))
    if (auto kept = kept_of(line)) expected.push_back(*std::move(kept));
  return expected;
}

Result<void> forget_undone(const Node& node, SettingsRecord& record) {
  if (!record.there || record.this_boot) return ok();
  std::erase_if(record.before, std::not_fn(outlives_a_restart));
  record.this_boot = true;
  return write_record(node, record.before);
}

Result<void> write_record(const Node& node, const KeptSettings& before) {
  return node.settings.replace(std::string{kBefore}, own_header(node) + "\n" + text_of(before));
}

Result<void> write_expected(const Node& node, const KeptSettings& expected) {
  return node.settings.replace(std::string{kExpectedFile}, text_of(expected));
}

}  // namespace cupel::agent
