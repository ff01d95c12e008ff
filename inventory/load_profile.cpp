#include "inventory/load_profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "inventory/names.h"
#include "inventory/read_baseline.h"
#include "inventory/read_boot.h"
#include "inventory/read_criteria.h"
#include "inventory/read_settings.h"
#include "inventory/shipped.h"
#include "inventory/yaml.h"

namespace cupel::inventory {
namespace {

constexpr std::size_t kFileLimit = 1u << 20;
constexpr int kDeepestExtends = 8;
constexpr long kMostParts = 4096;

using Problems = std::vector<Problem>;

const std::vector<std::string_view> kKinds{"gpu", "cpu", "dimm", "nvme",
                                           "psu", "hca", "nic",  "switch"};

void read_power(const YamlValue& value, const std::string& file, Draw& draw, Problems& problems) {
  YamlFields fields{value, "power", file, problems};
  draw.idle_watts = fields.number("idle").value_or(draw.idle_watts);
  draw.loaded_watts = fields.number("loaded").value_or(draw.loaded_watts);
  if (draw.idle_watts < 0 || draw.loaded_watts < draw.idle_watts)
    fields.report(fields.place("loaded"),
                  "power: loaded must be at least idle, and idle at least 0");
  fields.finish();
}

void read_patience(const YamlValue& value, const std::string& file, Patience& patience,
                   Problems& problems) {
  YamlFields fields{value, "patience", file, problems};
  patience.power_on = fields.duration("power_on").value_or(patience.power_on);
  patience.post = fields.duration("post").value_or(patience.post);
  patience.bmc_restart = fields.duration("bmc_restart").value_or(patience.bmc_restart);
  fields.finish();
}

void read_slurm(const YamlValue& value, const std::string& file, Profile& profile,
                Problems& problems) {
  YamlFields fields{value, "slurm", file, problems};
  profile.gpu_type = fields.text("gpu_type").value_or(profile.gpu_type);
  if (const auto fault = profile.gpu_type.empty()
                             ? std::nullopt
                             : fault_in_name(Named::gpu_type, profile.gpu_type))
    fields.report(fields.place("gpu_type"), *fault);
  profile.slurm_cpus =
      static_cast<int>(fields.integer("cpus", 1, 100'000).value_or(profile.slurm_cpus));
  profile.slurm_memory_bytes = fields.size("memory").value_or(profile.slurm_memory_bytes);
  fields.finish();
}

ExpectedParts read_part(PartKind kind, const YamlValue& value, const std::string& file,
                        Problems& problems) {
  ExpectedParts parts;
  parts.kind = kind;
  parts.where = {file, value.line, value.column};
  YamlFields fields{value, std::string{to_string(kind)}, file, problems};
  if (!fields.has("count")) fields.required("count");
  parts.count = static_cast<int>(fields.integer("count", 0, kMostParts).value_or(0));
  parts.models = fields.texts("model");
  parts.size_bytes = fields.size("size");
  parts.size_tolerance = fields.number("size_tolerance").value_or(parts.size_tolerance);
  parts.cores = fields.number("cores");
  parts.pci = fields.texts("pci");
  parts.slots = fields.texts("slots");
  parts.source = fields.text("source").value_or("");
  if (!parts.pci.empty() && parts.pci.size() != static_cast<std::size_t>(parts.count))
    fields.report(fields.place("pci"), fmt::format("pci lists {} addresses for {} parts",
                                                   parts.pci.size(), parts.count));
  if (!parts.slots.empty() && parts.slots.size() != static_cast<std::size_t>(parts.count))
    fields.report(fields.place("slots"), fmt::format("slots lists {} labels for {} parts",
                                                     parts.slots.size(), parts.count));
  fields.finish();
  return parts;
}

void read_parts(const YamlValue& value, const std::string& file, Profile& profile,
                Problems& problems) {
  if (value.kind != YamlValue::Kind::map) {
    problems.push_back({{file, value.line, value.column}, "parts must be a map of kinds"});
    return;
  }
  for (const auto& entry : value.items) {
    const auto kind = part_kind(entry.key);
    const bool known = kind && std::ranges::find(kKinds, entry.key) != kKinds.end();
    if (!known) {
      problems.push_back({{file, entry.key_line, entry.key_column},
                          "unknown kind of part '" + entry.key + "'" +
                              did_you_mean(entry.key, std::span{kKinds})});
      continue;
    }
    std::erase_if(profile.parts, [&](const auto& before) { return before.kind == *kind; });
    profile.parts.push_back(read_part(*kind, entry, file, problems));
  }
}

void read_setting(const YamlValue& value, const std::string& file, Profile& profile,
                  Problems& problems) {
  YamlFields fields{value, "bios", file, problems};
  ExpectedSetting setting;
  setting.attribute = fields.required("attribute");
  setting.value = fields.required("value");
  setting.source = fields.text("source").value_or("");
  setting.where = fields.place("value");
  fields.finish();
  std::erase_if(profile.bios,
                [&](const auto& before) { return before.attribute == setting.attribute; });
  profile.bios.push_back(std::move(setting));
}

void read_sections(YamlFields& fields, const std::string& file, Profile& profile,
                   Problems& problems) {
  if (const auto* power = fields.value("power")) read_power(*power, file, profile.draw, problems);
  if (const auto* patience = fields.value("patience"))
    read_patience(*patience, file, profile.patience, problems);
  if (const auto* slurm = fields.value("slurm")) read_slurm(*slurm, file, profile, problems);
  if (const auto* parts = fields.value("parts")) read_parts(*parts, file, profile, problems);
  if (fields.has("rails")) profile.rails = fields.texts("rails");
  read_baseline(fields, file, profile, problems);
  const auto bios = fields.list("bios");
  if (fields.has("bios") && bios.empty()) profile.bios.clear();
  for (const auto& item : bios) read_setting(item, file, profile, problems);
  read_settings(fields, file, profile.settings, problems);
  read_profile_os(fields, file, profile.os, problems);
  leave_out(fields.texts("without"), fields.place("without"), profile, problems);
  if (const auto* criteria = fields.value("criteria"))
    read_criteria(*criteria, file, profile, problems);
}

std::optional<Profile> parse(std::string_view text, const std::string& file,
                             const ProfileSource& source, Problems& problems, int depth);

/// The profile that this one begins with.
Profile extended(YamlFields& fields, const ProfileSource& source, Problems& problems, int depth) {
  const auto base = fields.text("extends");
  if (!base) return {};
  if (depth == kDeepestExtends) {
    fields.report(fields.place("extends"), "extends in a circle, or more than 8 deep");
    return {};
  }
  const auto base_text = source.text(*base);
  if (base_text.empty()) {
    const auto names = source.names();
    const auto why = source.unread(*base);
    fields.report(
        fields.place("extends"),
        why ? *why : "there is no profile '" + *base + "'" + did_you_mean(*base, std::span{names}));
    return {};
  }
  return parse(base_text, source.file(*base), source, problems, depth + 1).value_or(Profile{});
}

std::optional<Profile> parse(std::string_view text, const std::string& file,
                             const ProfileSource& source, Problems& problems, int depth) {
  auto document = parse_yaml(text, file, problems);
  if (!document) return std::nullopt;
  YamlFields fields{document->root, "profile", file, problems};
  const auto name = fields.required("profile");
  if (const auto fault = name.empty() ? std::nullopt : fault_in_name(Named::profile, name))
    fields.report(fields.place("profile"), *fault);
  Profile profile = extended(fields, source, problems, depth);
  profile.name = name;
  profile.where = fields.place();
  profile.description = fields.text("description").value_or(profile.description);
  profile.units = static_cast<int>(fields.integer("units", 1, 60).value_or(profile.units));
  read_sections(fields, file, profile, problems);
  fields.finish();
  if (profile.draw.loaded_watts <= 0)
    fields.report(fields.place(), "profile needs power: {idle: ..., loaded: ...} in watts");
  return profile;
}

}  // namespace

std::optional<Profile> parse_profile(std::string_view text, const std::string& file,
                                     const ProfileSource& source, Problems& problems) {
  auto profile = parse(text, file, source, problems, 0);
  if (profile) count_parts(*profile, problems);
  if (profile) check_baseline(*profile, problems);
  return profile;
}

std::string ProfileSource::text(std::string_view name) const {
  const auto file = std::string{name} + ".yaml";
  if (file.find('/') != file.npos) return {};
  auto own = read_file(folder_ / file, kFileLimit);
  if (own) return *std::move(own);
  if (unread(name)) return {};
  const auto* shipped = shipped_file("inventory/profiles/" + file);
  return shipped == nullptr ? std::string{} : std::string{shipped->text};
}

std::optional<std::string> ProfileSource::unread(std::string_view name) const {
  // Behind a folder that this user may not enter there is no inventory either that names it.
  if (!is_folder(folder_)) return std::nullopt;
  const auto own = folder_ / (std::string{name} + ".yaml");
  std::error_code failure;
  const auto found = std::filesystem::status(own, failure);
  const bool is_absent = found.type() == std::filesystem::file_type::not_found;
  const bool may_be_there = !is_absent && (!failure || failure == std::errc::permission_denied);
  if (!may_be_there || name.contains('/')) return std::nullopt;
  auto text = read_file(own, kFileLimit);
  return text ? std::nullopt : std::optional{std::move(text).error().what};
}

std::string ProfileSource::file(std::string_view name) const {
  auto file = std::string{name} + ".yaml";
  const auto own = folder_ / file;
  return is_there(own) ? own.string() : file;
}

std::optional<Profile> ProfileSource::load(std::string_view name, Problems& problems) const {
  const auto found = text(name);
  if (auto why = found.empty() ? unread(name) : std::nullopt)
    problems.push_back({{file(name), 0, 0}, *std::move(why)});
  if (found.empty()) return std::nullopt;
  return parse_profile(found, file(name), *this, problems);
}

std::vector<std::string> ProfileSource::names() const {
  constexpr std::string_view kFolder = "inventory/profiles/";
  std::vector<std::string> found;
  for (const auto& shipped : shipped_files())
    if (shipped.path.starts_with(kFolder))
      found.push_back(std::filesystem::path{shipped.path}.stem().string());
  each_entry(folder_, [&](const auto& entry) {
    if (entry.path().extension() == ".yaml") found.push_back(entry.path().stem().string());
  });
  std::ranges::sort(found);
  const auto doubles = std::ranges::unique(found);
  found.erase(doubles.begin(), doubles.end());
  return found;
}

}  // namespace cupel::inventory
