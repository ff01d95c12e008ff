// Tools that name, make and remove files.
#include <fmt/format.h>

#include <cerrno>
#include <ctime>

#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/shell/shell.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

using Kind = Inode::Kind;

std::string quoted_error(std::string_view verb, std::string_view name, int error) {
  return fmt::format("{} '{}': {}", verb, name, error_text(error));
}

std::string base_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const auto slash = path.rfind('/');
  return std::string{slash == path.npos || path == "/" ? path : path.substr(slash + 1)};
}

char type_letter(const Inode& node) {
  switch (node.kind) {
    case Kind::folder:
      return 'd';
    case Kind::link:
      return 'l';
    case Kind::device:
      return node.bytes == "disk" ? 'b' : 'c';
    default:
      return '-';
  }
}

std::string mode_text(const Inode& node) {
  std::string text{type_letter(node)};
  for (int shift = 6; shift >= 0; shift -= 3) {
    const unsigned bits = node.mode >> shift;
    text += bits & 4 ? 'r' : '-';
    text += bits & 2 ? 'w' : '-';
    text += bits & 1 ? 'x' : '-';
  }
  if (node.mode & 01000) text.back() = text.back() == 'x' ? 't' : 'T';
  return text;
}

std::string time_text(double when, const char* format) {
  const auto seconds = static_cast<std::time_t>(when);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char buffer[64];
  std::strftime(buffer, sizeof buffer, format, &parts);
  return buffer;
}

Task<int> list(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "la1AdhtrRFin", {{"all", 'a'}});
  auto operands = options.operands;
  if (operands.empty()) operands.push_back(".");
  std::ranges::sort(operands);
  const auto line = [&](const std::string& name, const Inode& node) {
    if (!options.has('l')) return name + "\n";
    const auto arrow = node.kind == Kind::link ? " -> " + node.bytes : std::string{};
    return fmt::format("{} 1 root root {} {} {}{}\n", mode_text(node), node.length(),
                       time_text(node.modified, "%b %e %H:%M"), name, arrow);
  };
  std::string files, folders;
  int status = 0;
  for (const auto& operand : operands) {
    const auto node = process->disk().find(process->path(operand), !options.has('d'));
    if (!node) {
      status =
          co_await print_error(process, "ls", quoted_error("cannot access", operand, ENOENT), 2);
      continue;
    }
    if (!node->is_folder() || options.has('d')) {
      files += line(operand, *node);
      continue;
    }
    if (operands.size() > 1)
      folders += (folders.empty() && files.empty() ? "" : "\n") + operand + ":\n";
    if (options.has('a')) folders += line(".", *node) + line("..", *node);
    for (const auto& [name, entry] : node->entries)
      if (!name.starts_with('.') || options.has('a') || options.has('A'))
        folders += line(name, *entry);
  }
  co_await process->say(files + folders);
  co_return status;
}

Task<int> make_folder(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "pm:v", {{"parents", 'p'}, {"mode", 'm'}});
  int status = 0;
  for (const auto& operand : options.operands) {
    auto path = process->path(operand);
    std::vector<std::string> requested{path};
    if (options.has('p'))
      for (auto slash = path.rfind('/'); slash != 0 && slash != path.npos;
           slash = path.rfind('/', slash - 1))
        requested.push_back(path.substr(0, slash));
    std::ranges::reverse(requested);
    for (const auto& each : requested) {
      auto place = process->disk().place(each);
      int error = place.error;
      if (error == 0 && place.node) {
        if (!options.has('p') || !place.node->is_folder()) error = EEXIST;
      } else if (error == 0) {
        unsigned mode = 0777 & ~process->mask;
        if (options.has('m') && each == path)
          mode = static_cast<unsigned>(std::strtoul(options.value('m').c_str(), nullptr, 8));
        process->disk().make_folder(place, mode, process->now());
      }
      if (error == 0) continue;
      status = co_await print_error(process, "mkdir",
                                    quoted_error("cannot create directory", operand, error));
      break;
    }
  }
  co_return status;
}

Task<int> remove(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "rRfvd", {{"recursive", 'r'}, {"force", 'f'}});
  const bool tree = options.has('r') || options.has('R');
  int status = 0;
  for (const auto& operand : options.operands) {
    const auto path = process->path(operand);
    const auto place = process->disk().place(path, false);
    int error = place.node ? 0 : ENOENT;
    if (error == ENOENT && options.has('f')) continue;
    if (error == 0 && place.node->is_folder() && !tree) error = EISDIR;
    if (error == 0 && !place.folder) error = EACCES;
    if (error != 0)
      status = co_await print_error(process, "rm", quoted_error("cannot remove", operand, error));
    else
      process->disk().remove_tree(path);
  }
  co_return status;
}

Task<int> remove_folder(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "p");
  int status = 0;
  for (const auto& operand : options.operands) {
    const auto place = process->disk().place(process->path(operand), false);
    int error = place.node ? 0 : ENOENT;
    if (error == 0 && !place.node->is_folder()) error = ENOTDIR;
    if (error == 0 && !place.node->entries.empty()) error = ENOTEMPTY;
    if (error == 0)
      process->disk().remove(place);
    else
      status =
          co_await print_error(process, "rmdir", quoted_error("failed to remove", operand, error));
  }
  co_return status;
}

/// Where mv and cp put `source`: `target` itself, or a name in it if it is a folder.
FileSystem::Place destination(Process& process, const std::string& source,
                              const std::string& target, bool no_folder) {
  auto place = process.disk().place(process.path(target));
  if (!no_folder && place.error == 0 && place.node && place.node->is_folder())
    place = process.disk().place(process.path(target + "/" + base_name(source)));
  return place;
}

Task<int> move(ProcessPtr process, Arguments arguments) {
  auto options = parse_options(arguments, "fnTvt:");
  if (options.operands.size() < 2)
    co_return co_await print_error(process, "mv", "missing file operand");
  const auto target = options.operands.back();
  options.operands.pop_back();
  int status = 0;
  for (const auto& source : options.operands) {
    const auto from = process->disk().place(process->path(source), false);
    const auto to = destination(*process, source, target, options.has('T'));
    const int error = !from.node ? ENOENT : to.error;
    if (error != 0) {
      status = co_await print_error(process, "mv", quoted_error("cannot stat", source, error));
      continue;
    }
    if (to.node == from.node || (to.node && options.has('n'))) continue;
    const auto node = from.node;
    if (to.node) process->disk().remove(to);
    from.folder->entries.erase(from.name);
    to.folder->entries[to.name] = node;
  }
  co_return status;
}

bool copy_tree(Process& process, const Inode& from, const FileSystem::Place& to, int depth) {
  constexpr int kDeepest = 32;
  auto& disk = process.disk();
  if (depth > kDeepest) return false;
  if (from.is_folder()) {
    auto folder = to.node ? to.node : disk.make_folder(to, from.mode, process.now());
    const auto entries = from.entries;
    for (const auto& [name, entry] : entries) {
      const auto old = folder->entries.find(name);
      const FileSystem::Place place{.folder = folder,
                                    .name = name,
                                    .node = old == folder->entries.end() ? nullptr : old->second};
      if (!copy_tree(process, *entry, place, depth + 1)) return false;
    }
    return true;
  }
  auto node = to.node ? to.node : disk.make_file(to, from.mode & 0777, process.now());
  if (node->kind != Kind::file) return false;
  disk.truncate(*node, 0, process.now());
  const auto bytes = from.kind == Kind::file ? from.bytes : from.content();
  if (!disk.write(*node, 0, bytes, process.now())) return false;
  node->size = std::max<std::uint64_t>(node->size, from.kind == Kind::file ? from.size : 0);
  return true;
}

Task<int> copy(ProcessPtr process, Arguments arguments) {
  auto options = parse_options(arguments, "rRafpTdv");
  if (options.operands.size() < 2)
    co_return co_await print_error(process, "cp", "missing file operand");
  const auto target = options.operands.back();
  options.operands.pop_back();
  int status = 0;
  for (const auto& source : options.operands) {
    const auto from = process->disk().find(process->path(source));
    const auto to = destination(*process, source, target, options.has('T'));
    const bool tree = options.has('r') || options.has('R') || options.has('a');
    const int error = !from ? ENOENT : (from->is_folder() && !tree) ? EISDIR : to.error;
    if (error != 0)
      status = co_await print_error(process, "cp", quoted_error("cannot copy", source, error));
    else if (!copy_tree(*process, *from, to, 0))
      status = co_await print_error(process, "cp", quoted_error("error writing", target, ENOSPC));
  }
  co_return status;
}

Task<int> link(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "sfnTv", {{"symbolic", 's'}, {"force", 'f'}});
  if (options.operands.empty())
    co_return co_await print_error(process, "ln", "missing file operand");
  const auto& source = options.operands[0];
  const auto target = options.operands.size() > 1 ? options.operands[1] : base_name(source);
  auto place = process->disk().place(process->path(target), false);
  if (!options.has('n') && !options.has('T') && place.node &&
      process->disk().find(process->path(target)) &&
      process->disk().find(process->path(target))->is_folder())
    place = process->disk().place(process->path(target + "/" + base_name(source)), false);
  if (place.error == 0 && place.node && options.has('f')) {
    process->disk().remove(place);
    place.node = nullptr;
  }
  if (place.error != 0 || place.node)
    co_return co_await print_error(
        process, "ln",
        quoted_error("failed to create link", target, place.error != 0 ? place.error : EEXIST));
  if (options.has('s')) {
    const auto node = process->disk().make_file(place, 0777, process->now());
    node->kind = Kind::link;
    node->bytes = source;
    co_return 0;
  }
  const auto node = process->disk().find(process->path(source));
  if (!node || node->is_folder())
    co_return co_await print_error(process, "ln", quoted_error("failed to access", source, ENOENT));
  place.folder->entries[place.name] = node;
  co_return 0;
}

/// "755" or "u+x,go-w" on an old mode.
std::optional<unsigned> changed_mode(unsigned mode, const std::string& how) {
  unsigned octal = 0;
  const auto [stop, failure] = std::from_chars(how.data(), how.data() + how.size(), octal, 8);
  if (failure == std::errc{} && stop == how.data() + how.size()) return octal;
  for (const auto clause : split(how, ',')) {
    const auto at = clause.find_first_of("+-=");
    if (at == clause.npos) return std::nullopt;
    unsigned who = 0, what = 0;
    for (const char c : clause.substr(0, at))
      who |= c == 'u' ? 0700u : c == 'g' ? 0070u : c == 'o' ? 0007u : 0777u;
    if (at == 0) who = 0777;
    for (const char c : clause.substr(at + 1))
      what |= c == 'r' ? 0444u : c == 'w' ? 0222u : c == 'x' || c == 'X' ? 0111u : 0u;
    if (clause[at] == '+') mode |= who & what;
    if (clause[at] == '-') mode &= ~(who & what);
    if (clause[at] == '=') mode = (mode & ~who) | (who & what);
  }
  return mode;
}

Task<int> change_mode(ProcessPtr process, Arguments arguments) {
  Arguments operands;
  for (std::size_t i = 1; i < arguments.size(); ++i)
    if (arguments[i] != "-R" && arguments[i] != "--" && arguments[i] != "-f")
      operands.push_back(arguments[i]);
  if (operands.size() < 2) co_return co_await print_error(process, "chmod", "missing operand");
  int status = 0;
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const auto node = process->disk().find(process->path(operands[i]));
    const auto mode = node ? changed_mode(node->mode, operands[0]) : std::nullopt;
    if (mode)
      node->mode = *mode;
    else
      status = co_await print_error(process, "chmod",
                                    quoted_error("cannot access", operands[i], ENOENT));
  }
  co_return status;
}

Task<int> change_owner(ProcessPtr, Arguments) { co_return 0; }

Task<int> touch(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "camd:r:t:");
  int status = 0;
  for (const auto& operand : options.operands) {
    const auto place = process->disk().place(process->path(operand));
    if (place.error != 0)
      status = co_await print_error(process, "touch",
                                    quoted_error("cannot touch", operand, place.error));
    else if (place.node)
      place.node->modified = process->now();
    else if (!options.has('c'))
      process->disk().make_file(place, 0666 & ~process->mask, process->now());
  }
  co_return status;
}

/// One conversion of `stat -c` (coreutils stat(1), "valid format sequences for files").
std::string reported_of(const Inode& node, const std::string& operand, char conversion) {
  switch (conversion) {
    case 's':
      return std::to_string(node.length());
    case 'Y':
    case 'X':
    case 'Z':
    case 'W':
      return std::to_string(static_cast<std::int64_t>(node.modified));
    case 'n':
      return operand;
    case 'a':
      return fmt::format("{:o}", node.mode & 07777);
    case 'A':
      return mode_text(node);
    case 'u':
    case 'g':
      return "0";
    case 'U':
    case 'G':
      return "root";
    case 'i':
      return std::to_string(node.number);
    case 'b':
      return std::to_string((node.length() + 511) / 512);
    case 'B':
      return "512";
    case 'h':
      return "1";
    case 'y':
      return time_text(node.modified, "%Y-%m-%d %H:%M:%S.000000000 +0000");
    case 'F':
      return node.is_folder()          ? "directory"
             : node.kind == Kind::link ? "symbolic link"
             : node.length() == 0      ? "regular empty file"
                                       : "regular file";
    default:
      return "?";
  }
}

Task<int> state(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "c:Lft", {{"format", 'c'}, {"printf", 'p'}});
  int status = 0;
  for (const auto& operand : options.operands) {
    const auto node = process->disk().find(process->path(operand), options.has('L'));
    if (!node) {
      status = co_await print_error(process, "stat", quoted_error("cannot statx", operand, ENOENT));
      continue;
    }
    const auto format = options.value('c', "  File: %n\n  Size: %s");
    std::string text;
    for (std::size_t i = 0; i < format.size(); ++i) {
      if (format[i] != '%' || i + 1 >= format.size()) {
        text += format[i];
        continue;
      }
      text += reported_of(*node, operand, format[++i]);
    }
    text += "\n";
    co_await process->say(text);
  }
  co_return status;
}

Task<int> convert(ProcessPtr process, Arguments arguments) {
  std::map<std::string, std::string> set{{"bs", "512"}};
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const auto equals = arguments[i].find('=');
    set[arguments[i].substr(0, equals)] =
        equals == std::string::npos ? "" : arguments[i].substr(equals + 1);
  }
  const auto block = static_cast<std::size_t>(std::clamp(
      parse_size(set.contains("ibs") ? set["ibs"] : set["bs"]).value_or(512), 1.0, 67108864.0));
  const auto blocks = set.contains("count") ? parse_size(set["count"]).value_or(0) : 1e18;
  const auto skip = parse_size(set.contains("skip") ? set["skip"] : "0").value_or(0);
  auto& disk = process->disk();
  OpenFilePtr in = process->files.contains(0) ? process->files[0] : nullptr;
  OpenFilePtr out = process->files.contains(1) ? process->files[1] : nullptr;
  if (set.contains("if")) {
    const auto node = disk.find(process->path(set["if"]));
    if (!node)
      co_return co_await print_error(
          process, "dd", "failed to open '" + set["if"] + "': No such file or directory");
    in = open_inode(disk, node, false);
  }
  if (set.contains("of")) {
    auto place = disk.place(process->path(set["of"]));
    if (place.error != 0)
      co_return co_await print_error(
          process, "dd",
          "failed to open '" + set["of"] + "': " + std::string{error_text(place.error)});
    if (!place.node) place.node = disk.make_file(place, 0666 & ~process->mask, process->now());
    const bool keep = set["conv"].contains("notrunc");
    if (place.node->kind == Kind::file && !keep) disk.truncate(*place.node, 0, process->now());
    out = open_inode(disk, place.node, false);
  }
  if (!in || !out) co_return 1;
  double done = 0, bytes = 0;
  for (double skipped = 0; skipped < skip; ++skipped) {
    std::string ignored;
    const int error = co_await in->read(*process, ignored, block);
    if (error != 0 || ignored.empty()) break;
  }
  for (; done < blocks && process->fatal() == 0; ++done) {
    std::string piece;
    while (piece.size() < block) {
      const auto before = piece.size();
      const int error = co_await in->read(*process, piece, block - before);
      if (error != 0 || piece.size() == before) break;
      if (!set["iflag"].contains("fullblock")) break;
    }
    if (piece.empty()) break;
    const int error = co_await out->write(*process, piece);
    if (error != 0)
      co_return co_await print_error(process, "dd",
                                     "error writing: " + std::string{error_text(error)});
    bytes += static_cast<double>(piece.size());
    if (static_cast<int>(done) % 64 == 63) co_await process->yield();
  }
  if (set["status"] != "none") {
    const auto line = fmt::format(
        "{0:.0f}+0 records in\n{0:.0f}+0 records out\n{1:.0f} bytes copied, 0.01 s, 1.0 GB/s\n",
        done, bytes);
    co_await process->print_error(line);
  }
  co_return 0;
}

Task<int> folder_of(ProcessPtr process, Arguments arguments) {
  std::string text;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    std::string_view path{arguments[i]};
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    const auto slash = path.rfind('/');
    text += slash == path.npos ? "." : slash == 0 ? "/" : std::string{path.substr(0, slash)};
    text += "\n";
  }
  co_await process->say(text);
  co_return 0;
}

Task<int> make_temporary(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "dp:tqu", {{"directory", 'd'}, {"tmpdir", 'p'}});
  auto pattern = options.operands.empty() ? std::string{"tmp.XXXXXXXXXX"} : options.operands[0];
  if (options.operands.empty() || options.has('p'))
    pattern = options.value('p', "/tmp") + "/" + pattern;
  const auto end = pattern.find_last_of('X');
  auto start = end;
  while (start != pattern.npos && start > 0 && pattern[start - 1] == 'X') --start;
  if (end == pattern.npos || end - start < 2)
    co_return co_await print_error(process, "mktemp", "too few X's in template '" + pattern + "'");
  for (int attempt = 0; attempt < 100; ++attempt) {
    auto path = pattern;
    auto value = static_cast<std::uint64_t>(process->number) * 1000003u +
                 static_cast<std::uint64_t>(attempt) * 7919u +
                 static_cast<std::uint64_t>(process->now() * 1000);
    for (auto i = start; i <= end; ++i, value = value * 6364136223846793005u + 1442695040888963407u)
      path[i] =
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[(value >> 33) % 62];
    const auto place = process->disk().place(process->path(path));
    if (place.error != 0)
      co_return co_await print_error(
          process, "mktemp",
          quoted_error("failed to create file via template", pattern, place.error));
    if (place.node) continue;
    if (options.has('d'))
      process->disk().make_folder(place, 0700, process->now());
    else
      process->disk().make_file(place, 0600, process->now());
    path += "\n";
    co_await process->say(path);
    co_return 0;
  }
  co_return 1;
}

void find_under(const Process& process, const Inode& node, const std::string& path,
                const std::string& pattern, char type, int depth, std::string& text) {
  const bool named = pattern.empty() || matches(pattern, base_name(path));
  const bool typed = type == '\0' || (type == 'd') == node.is_folder();
  if (named && typed) text += path + "\n";
  if (depth <= 0 || !node.is_folder()) return;
  for (const auto& [name, entry] : node.entries)
    find_under(process, *entry, path.ends_with('/') ? path + name : path + "/" + name, pattern,
               type, depth - 1, text);
}

Task<int> find(ProcessPtr process, Arguments arguments) {
  Arguments roots;
  std::string pattern, text;
  char type = '\0';
  int depth = 32, status = 0;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const bool value = i + 1 < arguments.size();
    if (arguments[i] == "-name" && value)
      pattern = arguments[++i];
    else if (arguments[i] == "-type" && value)
      type = arguments[++i][0];
    else if (arguments[i] == "-maxdepth" && value)
      depth = number<int>(arguments[++i]).value_or(32);
    else if (!arguments[i].starts_with('-'))
      roots.push_back(arguments[i]);
  }
  if (roots.empty()) roots.push_back(".");
  for (const auto& root : roots) {
    const auto node = process->disk().find(process->path(root));
    if (node)
      find_under(*process, *node, root, pattern, type, depth, text);
    else
      status = co_await print_error(process, "find", "'" + root + "': No such file or directory");
  }
  co_await process->say(text);
  co_return status;
}

constexpr std::array<Tool, 15> kTools{{{"ls", list},
                                       {"mkdir", make_folder},
                                       {"rm", remove},
                                       {"rmdir", remove_folder},
                                       {"mv", move},
                                       {"cp", copy},
                                       {"ln", link},
                                       {"chmod", change_mode},
                                       {"chown", change_owner},
                                       {"touch", touch},
                                       {"stat", state},
                                       {"dd", convert},
                                       {"dirname", folder_of},
                                       {"mktemp", make_temporary},
                                       {"find", find}}};

}  // namespace

std::span<const Tool> file_tools() { return kTools; }

}  // namespace cupel::rehearsal
