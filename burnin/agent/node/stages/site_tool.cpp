#include "burnin/agent/node/stages/site_tool.h"

#include "base/text.h"

namespace cupel::agent {
namespace {

constexpr unsigned kSticky = 01000, kOthersWrite = 022;

/// "drwxr-xr-x", as ls -l shows it.
std::string mode_text(const TreeEntry& entry) {
  std::string text{"-rwxrwxrwx"};
  text[0] = entry.kind;
  for (unsigned i = 0; i < 9; ++i)
    if ((entry.mode >> (8 - i) & 1) == 0) text[i + 1] = '-';
  if ((entry.mode & kSticky) != 0) text[9] = text[9] == 'x' ? 't' : 'T';
  return text;
}

/// Belongs to root or to us, and nobody else may write to it. In a sticky folder of root's (/tmp)
/// others cannot rename what is not theirs. Whose a link is counts, not its mode.
bool is_safe(const TreeEntry& entry, unsigned user) {
  if (entry.owner != 0 && entry.owner != user) return false;
  if (entry.kind == 'l') return true;
  if (entry.kind == 'd' && entry.owner == 0 && (entry.mode & kSticky) != 0) return true;
  return (entry.kind == 'd' || entry.kind == '-') && (entry.mode & kOthersWrite) == 0;
}

/// What is wrong with "/", "/opt", "/opt/x" of "/opt/x"; empty where nothing is.
std::string unsafe_level(const Tree& tree, const std::string& path) {
  for (std::size_t end = 0; end != path.npos;) {
    const auto level = end == 0 ? std::string{"/"} : path.substr(0, end);
    end = end == path.size() ? path.npos : std::min(path.find('/', end + 1), path.size());
    const auto entry = tree.entry(level);
    if (!entry) return level + " cannot be looked at";
    if (!is_safe(*entry, tree.user()))
      return level + " is " + mode_text(*entry) + " of user " + std::to_string(entry->owner) +
             ": it must belong to root or to user " + std::to_string(tree.user()) +
             ", and no other user may write to it";
  }
  return {};
}

/// The same of a tool in a folder; where a link leads there, the path without links is looked at as
/// well (some systems keep /opt elsewhere).
std::string unsafe(const Tree& tree, const std::string& folder, const std::string& tool) {
  const auto path = folder + "/" + tool;
  const auto entry = tree.entry(path);
  if (entry && entry->kind == 'l') return path + " is a symbolic link";
  auto why = unsafe_level(tree, path);
  if (!why.empty()) return why;
  const auto real = tree.resolved(folder);
  if (!real) return folder + " cannot be resolved";
  return *real == folder ? why : unsafe_level(tree, *real + "/" + tool);
}

}  // namespace

Result<std::string> site_tool(const Node& node, std::string folder, const std::string& tool) {
  while (folder.ends_with('/')) folder.pop_back();
  if (const auto known = node.programs.folder_of(tool); !known.empty()) {
    if (!(known + "/").starts_with(folder + "/")) return known + "/" + tool;
    folder = known;
  }
  const auto entry = node.tree.entry(folder + "/" + tool);
  const bool there = entry && (entry->kind == 'l' || (entry->kind == '-' && (entry->mode & 0111)));
  if (!there) return Error{Code::kNoMeasurement, tool + " is not installed on the node"};
  if (auto why = unsafe(node.tree, folder, tool); !why.empty())
    return Error{Code::kNoMeasurement, std::move(why)};
  return folder + "/" + tool;
}

}  // namespace cupel::agent
