#include "orchestrator/api/site_playbooks.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "base/paths.h"
#include "inventory/shipped.h"

namespace cupel::api {
namespace {

constexpr std::size_t kMostPlaybooks = 1000;

bool is_playbook_name(std::string_view name) {
  return !name.empty() && name.size() <= 100 && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
}

/// What load_playbook() takes, by name; the site's own before a shipped one.
std::map<std::string, std::string> playbook_files(const SiteSettings& settings) {
  std::map<std::string, std::string> files;
  const auto take = [&](const std::filesystem::directory_entry& entry) {
    const auto name = entry.path().stem().string();
    const bool is_one = entry.path().extension() == ".yaml" && is_playbook_name(name);
    if (is_one && files.size() < kMostPlaybooks) files[name] = entry.path().string();
  };
  if (!settings.playbooks.empty()) each_entry(settings.playbooks, take);
  for (const auto& shipped : inventory::shipped_files()) {
    const std::filesystem::path path{shipped.path};
    if (path.parent_path() == "playbooks")
      files.emplace(path.stem().string(), path.stem().string());
  }
  return files;
}

}  // namespace

std::vector<SitePlaybook> site_playbooks(const SiteSettings& settings) {
  std::vector<SitePlaybook> found;
  for (const auto& [name, file] : playbook_files(settings)) {
    std::vector<inventory::Problem> problems;
    auto playbook = playbooks::load_playbook(file, problems);
    if (playbook)
      found.push_back({name, playbook->description, std::move(playbook->parameters)});
    else
      found.push_back({name});
  }
  return found;
}

std::optional<std::string> playbook_of(const SiteSettings& settings, const std::string& name) {
  if (!is_playbook_name(name)) return std::nullopt;
  const auto files = playbook_files(settings);
  const auto found = files.find(name);
  return found == files.end() ? std::nullopt : std::optional{found->second};
}

}  // namespace cupel::api
