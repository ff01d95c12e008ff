#include "orchestrator/ssh/programs.h"

#include <algorithm>
#include <set>

#include "base/digest.h"
#include "base/file.h"
#include "base/ownership.h"
#include "base/safe_path.h"
#include "base/text.h"
#include "orchestrator/ssh/bring_file.h"
#include "orchestrator/ssh/job_place.h"
#include "orchestrator/ssh/run_script.h"

namespace cupel::ssh {
namespace {

constexpr std::size_t kLargestProgram = 256u << 20;
constexpr std::string_view kFound = "cupel-program:";
constexpr std::string_view kStarted = "cupel-job-started";
constexpr std::string_view kMachine = "cupel-machine: ";

/// Prints the SHA-256 of each that is there.
std::string look_script(const std::string& folder, const std::vector<std::string>& names,
                        const std::string& job_folder) {
  const auto f = shell_quoted(folder);
  auto script =
      "echo \"" + std::string{kMachine} + "$(uname -m)\"\n" + job_place::found(job_folder);
  script += "if [ -d \"$d/started\" ]; then echo " + std::string{kStarted} + "; fi\n";
  script += "if [ ! -e " + f + " ] && [ ! -L " + f + " ]; then exit 0; fi\n" + check_folder(f);
  for (const auto& name : names) {
    const auto file = shell_quoted(folder + "/" + name);
    script += "if [ -f " + file + " ] && [ ! -L " + file + " ] && [ -x " + file +
              " ] && [ -z \"$(cupel_unsafe " + file + ")\" ]; then echo " + std::string{kFound} +
              " " + name + " \"$(sha256sum < " + file + ")\"; fi\n";
  }
  return script;
}

/// What the node says it is; the controller's own kind where it does not.
std::string machine_of(const std::string& out) {
  for (const auto line : lines(out))
    if (line.starts_with(kMachine)) return std::string{trimmed(line.substr(kMachine.size()))};
  return std::string{kOwnMachine};
}

/// "aarch64": a name that leads to no other folder.
bool is_machine_name(std::string_view name) {
  return !name.empty() && name.size() <= 16 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// Why nodes of that machine look after their jobs by a shell.
std::string why_none_for(const std::string& machine) {
  return "the node is " + shortened(printable(machine), 40) +
         ", and there is no cupel-node for it: install the package cupel-aarch64, or build it with "
         "scripts/install --aarch64";
}

/// What the node has, by name.
std::map<std::string, std::string> sums_of(const std::string& out) {
  std::map<std::string, std::string> sums;
  for (const auto line : lines(out)) {
    const auto reported = words(line);
    if (reported.size() >= 3 && reported[0] == kFound)
      sums[std::string{reported[1]}] = std::string{reported[2]};
  }
  return sums;
}

/// What stands between our program and this node, in words; empty: it runs there. The loader names
/// the version of the C library that it misses: "libc.so.6: version `GLIBC_2.34' not found".
std::string why_not(const std::string& program, const ScriptResult& said) {
  const auto name = program.substr(program.rfind('/') + 1);
  const auto reported = shortened(printable(trimmed(said.err)), 300);
  if (said.err.contains("GLIBC_") && said.err.contains("not found"))
    return name + " does not run there: the node's C library is older than glibc 2.34 (RHEL 9, " +
           "Ubuntu 22.04, Debian 12 and SLES 15 SP6 have it); update the system, or leave out the "
           "stages that need our programs: " +
           reported;
  const auto why =
      reported.empty() ? "it ended with status " + std::to_string(said.status) : reported;
  return name + " does not run there: " + why;
}

/// Empty: it does. On a node with an old C library it says which one that is.
Task<Result<std::string>> why_it_does_not_run(Session& session, std::string program,
                                              Deadline deadline) {
  const auto version = shell_quoted(program) + " --version";
  const auto script = version + " && exit 0\ngetconf GNU_LIBC_VERSION >&2\nexit 1\n";
  CO_TRY(const auto said, co_await run_script(session, script, {}, false, deadline));
  const bool runs = said.status == 0 && said.out.contains("\"protocol\":1}");
  co_return runs ? std::string{} : why_not(program, said);
}

}  // namespace

std::vector<std::filesystem::path> program_folders(const std::filesystem::path& reported) {
  if (!reported.empty()) return {reported};
  std::error_code failure;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (failure) return {};
  const auto beside = self.parent_path();
  return {beside, beside.parent_path() / "libexec" / "cupel"};
}

Result<std::shared_ptr<const ProgramFile>> ProgramShelf::find(std::string_view name,
                                                              std::string_view machine) {
  if (!is_machine_name(machine)) return nullptr;
  const bool own = machine == kOwnMachine;
  const auto place = own ? std::string{name} : std::string{machine} + "/" + std::string{name};
  if (const auto known = read_.find(place); known != read_.end()) return known->second;
  std::shared_ptr<const ProgramFile> found;
  for (const auto& folder : folders_) {
    const auto file = folder / place;
    std::error_code failure;
    if (!std::filesystem::is_regular_file(file, failure)) continue;
    TRY(auto bytes, read_trusted_file(file, kLargestProgram));
    auto sum = sha256_hex(bytes);
    found = std::make_shared<const ProgramFile>(ProgramFile{std::move(bytes), std::move(sum)});
    break;
  }
  read_.emplace(place, found);
  return found;
}

Task<Result<Brought>> ensure_programs(Session& session, ProgramShelf& shelf,
                                      std::vector<std::string> names, std::string job_folder,
                                      bool sudo, Deadline deadline) {
  const auto& folder = shelf.on_node();
  const auto script = look_script(folder, names, job_folder);
  CO_TRY(const auto seen, co_await run_script(session, script, {}, sudo, deadline));
  if (seen.status == kUnsafePath)
    co_return Error{Code::kFailed, "look at " + folder + " and " + job_folder + ": " +
                                       shortened(printable(trimmed(seen.err)), 500)};
  const auto there = sums_of(seen.out);
  const auto machine = machine_of(seen.out);
  Brought brought{.started = seen.out.contains(kStarted)};
  bool ours = false;
  for (const auto& name : names) {
    CO_TRY(const auto file, shelf.find(name, machine));
    if (!file && name == kNodeProgram && machine != kOwnMachine)
      brought.why_not = why_none_for(machine);
    if (!file) continue;
    const auto sum = there.find(name);
    const bool same = sum != there.end() && sum->second == file->sha256;
    if (!same && brought.started) continue;
    if (!same) {
      CO_TRY(
          co_await bring_file(session, {folder, name, file->sha256, file->bytes}, sudo, deadline));
    }
    ours = ours || name == kNodeProgram;
  }
  if (!ours) co_return brought;
  auto program = folder + "/" + std::string{kNodeProgram};
  CO_TRY(brought.why_not, co_await why_it_does_not_run(session, program, deadline));
  if (brought.why_not.empty()) brought.keeper = std::move(program);
  co_return brought;
}

}  // namespace cupel::ssh
