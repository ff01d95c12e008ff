#include "burnin/node/sysfs.h"

#include <algorithm>

#include "base/text.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kMostLines = 200'000;

}  // namespace

Sysfs::Sysfs(std::string_view text) {
  for (const auto line : lines(text)) {
    if (!line.starts_with("/proc/") && !line.starts_with("/sys/")) continue;
    const auto colon = line.find(':');
    if (colon == line.npos || lines_.size() == kMostLines) continue;
    lines_.push_back({line.substr(0, colon), trimmed(line.substr(colon + 1))});
  }
}

Devices Sysfs::below(std::string_view folder) const {
  Devices devices;
  for (const auto& [path, text] : lines_) {
    if (!path.starts_with(folder) || path.size() <= folder.size() + 1) continue;
    if (path[folder.size()] != '/') continue;
    const auto rest = path.substr(folder.size() + 1);
    const auto slash = rest.find('/');
    if (slash == rest.npos || slash == 0) continue;
    std::string attribute{rest.substr(slash + 1)};
    auto value = text;
    const auto equals = text.find('=');
    if (attribute.ends_with("uevent") && equals != text.npos) {
      attribute += "/" + std::string{text.substr(0, equals)};
      value = text.substr(equals + 1);
    }
    devices[script::clean(rest.substr(0, slash))].emplace(std::move(attribute),
                                                          script::clean(value));
  }
  return devices;
}

std::optional<std::string> Sysfs::file(std::string_view path) const {
  const auto found = std::ranges::find(lines_, path, &Line::path);
  return found == lines_.end() ? std::nullopt : std::optional{script::clean(found->text)};
}

std::vector<std::string_view> Sysfs::lines_of(std::string_view path) const {
  std::vector<std::string_view> found;
  for (const auto& line : lines_)
    if (line.path == path) found.push_back(line.text);
  return found;
}

std::string_view at(const Attributes& attributes, std::string_view path) {
  const auto found = attributes.find(path);
  return found == attributes.end() ? std::string_view{} : std::string_view{found->second};
}

}  // namespace cupel::burnin
