#include "orchestrator/ssh/node_paths.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "orchestrator/ssh/run_command.h"

namespace cupel::ssh {
namespace {

/// Whose it is, says who asks: stat(1) itself.
constexpr std::string_view kAsker = "/proc/self/.";

struct Level {
  std::string owner;
  std::string mode;  // "drwxr-xr-x"
};
using Levels = std::map<std::string, Level, std::less<>>;

/// "/opt/cupel": "/", "/opt", "/opt/cupel".
std::vector<std::string> levels_of(std::string_view path) {
  std::vector<std::string> all{"/"};
  for (auto end = path.find('/', 1); end != path.npos; end = path.find('/', end + 1))
    all.emplace_back(path.substr(0, end));
  if (path.size() > 1) all.emplace_back(path);
  return all;
}

Levels levels_in(std::string_view text) {
  constexpr std::size_t kModeSize = 10;
  Levels all;
  for (const auto line : lines(text)) {
    const auto owner = line.find(' ');
    const auto mode = line.find(' ', owner == line.npos ? owner : owner + 1);
    if (mode == line.npos || mode - owner - 1 < kModeSize) continue;
    all[std::string{line.substr(mode + 1)}] = {
        std::string{line.substr(0, owner)},
        std::string{line.substr(owner + 1, kModeSize)}};  // a dot behind it says SELinux
  }
  return all;
}

/// What is there of these, and of all folders above them. Errors: as Session::run(); kFailed.
Task<Result<Levels>> stat_levels(Session& session, std::vector<std::string> paths, bool sudo,
                                 Deadline deadline) {
  std::vector<std::string> asked{std::string{kAsker}};
  for (const auto& path : paths)
    for (auto& level : levels_of(path))
      if (std::ranges::find(asked, level) == asked.end()) asked.push_back(std::move(level));
  std::vector<std::string> words{"stat", "-c", "%u %A %n"};
  words.insert(words.end(), asked.begin(), asked.end());
  CO_TRY(const auto output, co_await run_command(session, std::move(words), sudo, deadline));
  auto all = levels_in(output.out);
  if (all.contains("/")) co_return all;
  co_return Error{Code::kFailed,
                  fmt::format("stat does not say who may write to {}: {}", paths.front(),
                              shortened(printable(trimmed(output.err)), 300))};
}

bool is_safe(const Level& level, const std::string& user) {
  const bool roots = level.owner == "0", ours = roots || level.owner == user;
  const char kind = level.mode[0], sticky = level.mode[9];
  if (kind == 'l') return ours;
  if (kind == 'd' && roots && (sticky == 't' || sticky == 'T')) return true;
  return (kind == 'd' || kind == '-') && ours && level.mode[5] == '-' && level.mode[8] == '-';
}

PathLook look_in(const Levels& all, const std::string& path) {
  const auto asker = all.find(kAsker);
  const auto user = asker == all.end() ? std::string{"0"} : asker->second.owner;
  PathLook look;
  for (const auto& name : levels_of(path)) {
    const auto found = all.find(name);
    if (found == all.end()) return {};
    const auto& [owner, mode] = found->second;
    look = {.there = true, .is_program = mode[0] == '-' && mode[3] == 'x'};
    if (mode[0] == 'l' && name == path)
      look.why_unsafe = path + " is a symbolic link";
    else if (!is_safe(found->second, user))
      look.why_unsafe = fmt::format(
          "{} is {} of user {}: it must belong to root or to user {}, and no other "
          "user may write to it",
          name, printable(mode), printable(owner), user);
    if (!look.why_unsafe.empty()) break;
  }
  return look;
}

bool has_link(const Levels& all, const std::string& path) {
  return std::ranges::any_of(levels_of(path), [&](const std::string& name) {
    const auto found = all.find(name);
    return found != all.end() && found->second.mode[0] == 'l';
  });
}

/// A path whose folder is reached by a link: the same without links. Errors: as Session::run();
/// kFailed.
Task<Result<PathLook>> look_without_links(Session& session, std::string path, bool sudo,
                                          Deadline deadline) {
  const auto slash = path.rfind('/');
  std::vector<std::string> words{"readlink", "-f", path.substr(0, slash)};
  CO_TRY(const auto output, co_await run_command(session, std::move(words), sudo, deadline));
  const std::string folder{last_line(output.out)};
  if (!folder.starts_with('/'))
    co_return Error{Code::kFailed, "readlink does not say where " + path + " leads to: " +
                                       shortened(printable(trimmed(output.err)), 300)};
  const auto real = (folder == "/" ? "" : folder) + path.substr(slash);
  std::vector<std::string> paths{real};
  CO_TRY(const auto levels, co_await stat_levels(session, std::move(paths), sudo, deadline));
  co_return look_in(levels, real);
}

}  // namespace

Task<Result<PathLooks>> look_at_paths(Session& session, std::vector<std::string> paths, bool sudo,
                                      Deadline deadline) {
  CO_TRY(const auto levels, co_await stat_levels(session, paths, sudo, deadline));
  PathLooks looks;
  for (const auto& path : paths) {
    auto look = look_in(levels, path);
    if (look.there && look.why_unsafe.empty() && has_link(levels, path)) {
      CO_TRY(look, co_await look_without_links(session, path, sudo, deadline));
    }
    looks[path] = std::move(look);
  }
  co_return looks;
}

Task<Result<std::string>> find_node_program(Session& session, std::string folder,
                                            std::vector<std::string> beside, bool sudo,
                                            Deadline deadline) {
  session.node_program = {};
  const auto program = folder + "/cupel-node";
  auto paths = std::move(beside);
  paths.push_back(program);
  CO_TRY(const auto looks, co_await look_at_paths(session, paths, sudo, deadline));
  for (const auto& [path, look] : looks)
    if (!look.why_unsafe.empty())
      co_return Error{Code::kFailed, look.why_unsafe +
                                         ". Set it right or remove it, and run this again: what "
                                         "lies there is used by programs of Cupel"};
  session.node_program = {std::move(folder), sudo,
                          looks.at(program).there ? program : "cupel-node"};
  co_return session.node_program.call;
}

Task<Result<std::string>> known_node_program(Session& session, std::string folder, bool sudo,
                                             Deadline deadline) {
  const auto& known = session.node_program;
  if (!known.call.empty() && known.folder == folder && known.sudo == sudo) co_return known.call;
  co_return co_await find_node_program(session, std::move(folder), {}, sudo, deadline);
}

}  // namespace cupel::ssh
