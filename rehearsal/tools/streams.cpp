#include "rehearsal/tools/streams.h"

#include <cerrno>

#include "rehearsal/shell/host.h"

namespace cupel::rehearsal {

std::string_view error_text(int error) {
  switch (error) {
    case ENOENT:
      return "No such file or directory";
    case EISDIR:
      return "Is a directory";
    case ENOTDIR:
      return "Not a directory";
    case EACCES:
      return "Permission denied";
    case ENOSPC:
      return "No space left on device";
    case EEXIST:
      return "File exists";
    case ENOTEMPTY:
      return "Directory not empty";
    case EIO:
      return "Input/output error";
    case EPIPE:
      return "Broken pipe";
    case EBADF:
      return "Bad file descriptor";
    case ELOOP:
      return "Too many levels of symbolic links";
    default:
      return "Error";
  }
}

Task<int> print_error(ProcessPtr process, std::string tool, std::string what, int status) {
  const auto line = tool + ": " + what + "\n";
  co_await process->print_error(line);
  co_return status;
}

Task<Sources> read_sources(ProcessPtr process, std::string tool, Arguments operands, bool quiet) {
  Sources sources;
  if (operands.empty()) operands.push_back("-");
  for (const auto& operand : operands) {
    if (operand == "-") {
      std::string input;
      co_await process->read_all(0, input);
      sources.all.push_back({"-", std::move(input)});
      continue;
    }
    const auto place = process->disk().place(process->path(operand));
    int error = place.error != 0 ? place.error : (place.node ? 0 : ENOENT);
    if (error == 0 && place.node->is_folder()) error = EISDIR;
    if (error == 0 && place.node->kind == Inode::Kind::device && place.node->bytes == "disk")
      error = EACCES;
    if (error == 0) {
      sources.all.push_back({operand, place.node->content()});
      continue;
    }
    sources.good = false;
    if (!quiet)
      co_await print_error(process, tool, operand + ": " + std::string{error_text(error)});
  }
  co_return sources;
}

bool save_text(Process& process, const std::string& path, std::string_view text) {
  auto& disk = process.disk();
  auto place = disk.place(process.path(path));
  if (place.error != 0) return false;
  if (!place.node) place.node = disk.make_file(place, 0644, process.now());
  if (place.node->kind != Inode::Kind::file) return false;
  disk.truncate(*place.node, 0, process.now());
  return disk.write(*place.node, 0, text, process.now());
}

}  // namespace cupel::rehearsal
