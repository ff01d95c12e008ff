#include "orchestrator/ssh/bring_file.h"

#include "base/safe_path.h"
#include "base/text.h"
#include "orchestrator/ssh/run_script.h"

namespace cupel::ssh {
namespace {

constexpr int kCannotWrite = 73;
constexpr int kDamaged = 74;

/// In a file of its own until it is whole: two controllers may do this at once.
std::string receive_script(const FileToBring& file) {
  const auto f = shell_quoted(file.folder);
  return std::string{safe_path_functions()} +
         "umask 022\n"
         "if [ ! -e " +
         f + " ] && [ ! -L " + f + " ]; then mkdir -p " + f + " || exit 73; fi\n" +
         check_folder(f) + "if [ ! -O " + f + " ]; then exit 73; fi\n" + "t=" + f + "/." +
         file.name +
         ".$$\n"
         "rm -f \"$t\"\n"
         "trap 'rm -f \"$t\"' EXIT HUP INT TERM\n"
         "cat > \"$t\" || exit 73\n"
         "if [ \"$(sha256sum < \"$t\")\" != \"" +
         file.sha256 +
         "  -\" ]; then exit 74; fi\n"
         "chmod 755 \"$t\" && mv -f \"$t\" " +
         f + "/" + file.name + " || exit 73\n";
}

}  // namespace

std::string check_folder(const std::string& quoted) {
  return "why=$(cupel_unsafe " + quoted +
         ")\n"
         "if [ -n \"$why\" ]; then cupel_refuse \"$why. Set it right or remove it, and run this "
         "again: what lies in it is used as root.\"; fi\n";
}

Task<Result<void>> bring_file(Session& session, FileToBring file, bool sudo, Deadline deadline) {
  const auto what = "bring " + file.name + " to " + file.folder;
  auto heard = co_await run_script(session, receive_script(file), file.bytes, sudo, deadline);
  if (!heard) co_return std::move(heard).error().within(what);
  const auto& result = *heard;
  if (result.status == 0) co_return ok();
  if (result.status == kDamaged)
    co_return Error{Code::kUnreachable, what + ": what arrived has another checksum"};
  const auto words_of_node = shortened(printable(trimmed(result.err)), 300);
  const auto why = result.status == kCannotWrite && words_of_node.empty()
                       ? "the folder is not our own: log in as root, or say sudo: true"
                       : words_of_node;
  co_return Error{Code::kFailed, what + ": " + why};
}

}  // namespace cupel::ssh
