#include "orchestrator/ssh/programs.h"

#include <algorithm>
#include <set>

#include "base/digest.h"
#include "base/file.h"
#include "base/ownership.h"
#include "base/text.h"
#include "orchestrator/ssh/bring_file.h"
#include "orchestrator/ssh/detached.h"
#include "orchestrator/ssh/node_paths.h"
#include "orchestrator/ssh/run_command.h"

namespace cupel::ssh {
namespace {

constexpr std::size_t kLargestProgram = 256u << 20;

/// "aarch64": a name that leads to no other folder.
bool is_machine_name(std::string_view name) {
  return !name.empty() && name.size() <= 16 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// Why nodes of that machine run no stage.
std::string why_none_for(const std::string& machine) {
  return "the node is " + shortened(printable(machine), 40) +
         ", and there is no cupel-node for it: install the package cupel-aarch64, or build it with "
         "scripts/install --aarch64";
}

/// As `uname -m` says; the controller's own kind where the node does not. Errors: as
/// Session::run().
Task<Result<std::string>> machine_of(Session& session, Deadline deadline) {
  std::vector<std::string> words{"uname", "-m"};
  CO_TRY(const auto result, co_await run_command(session, std::move(words), false, deadline));
  const auto name = last_line(result.out);
  co_return std::string{result.status != 0 || name.empty() ? kOwnMachine : name};
}

using Sums = std::map<std::string, std::string, std::less<>>;  // by the file's path

/// SHA-256 of those of the files that are there. Errors: as Session::run().
Task<Result<Sums>> sums_of(Session& session, std::vector<std::string> files, bool sudo,
                           Deadline deadline) {
  Sums sums;
  if (files.empty()) co_return sums;
  files.insert(files.begin(), "sha256sum");
  CO_TRY(const auto result, co_await run_command(session, std::move(files), sudo, deadline));
  constexpr std::size_t kDigits = 64;
  for (const auto line : lines(result.out))
    if (line.size() > kDigits + 2)
      sums[std::string{line.substr(kDigits + 2)}] = std::string{line.substr(0, kDigits)};
  co_return sums;
}

/// What the node has.
struct OnNode {
  bool started = false;  // the job
  std::string machine{};
  Sums sums{};  // of programs that no other user could have changed
};

/// Runs nothing of what it looks at: it may be no program of ours. Errors: as Session::run();
/// kFailed where another user could have touched the folder or the job's.
Task<Result<OnNode>> look_at_node(Session& session, std::string folder,
                                  std::vector<std::string> names, JobHandle job,
                                  Deadline deadline) {
  const auto started = job.folder + "/started";
  // Of a login that is not root it lies in the login's home, where commands begin.
  const auto at_home = ".cupel-node" + started.substr(job.folder.rfind('/'));
  std::vector<std::string> paths{folder, started, at_home};
  for (const auto& name : names) paths.push_back(folder + "/" + name);
  CO_TRY(const auto looks, co_await look_at_paths(session, paths, job.sudo, deadline));
  for (const auto& path : {folder, started})
    if (const auto& why = looks.at(path).why_unsafe; !why.empty())
      co_return Error{Code::kFailed, "look at " + path + ": " + why +
                                         ". Set it right or remove it, and run this again: what "
                                         "lies in it is used as root."};
  OnNode node{.started = looks.at(started).there || (!job.sudo && looks.at(at_home).there)};
  CO_TRY(node.machine, co_await machine_of(session, deadline));
  std::vector<std::string> safe;
  for (const auto& [path, look] : looks)
    if (look.is_program && look.why_unsafe.empty()) safe.push_back(path);
  CO_TRY(node.sums, co_await sums_of(session, std::move(safe), job.sudo, deadline));
  co_return node;
}

/// What stands between our program and this node, in words; empty: it runs there. The loader names
/// the version of the C library that it misses: "libc.so.6: version `GLIBC_2.34' not found".
std::string why_not(const std::string& program, const ScriptResult& result) {
  const auto name = program.substr(program.rfind('/') + 1);
  const auto reported = shortened(printable(trimmed(result.err)), 300);
  if (result.err.contains("GLIBC_") && result.err.contains("not found"))
    return name + " does not run there: the node's C library is older than glibc 2.34 (RHEL 9, " +
           "Ubuntu 22.04, Debian 12 and SLES 15 SP6 have it); update the system, or leave out the "
           "stages that need our programs: " +
           reported;
  const auto why =
      reported.empty() ? "it ended with status " + std::to_string(result.status) : reported;
  return name + " does not run there: " + why;
}

/// Empty: it does. On a node with an old C library it says which one that is.
Task<Result<std::string>> why_it_does_not_run(Session& session, std::string program,
                                              Deadline deadline) {
  std::vector<std::string> version{program, "--version"};
  CO_TRY(auto result, co_await run_command(session, std::move(version), false, deadline));
  if (result.status == 0 && result.out.contains("\"protocol\":1}")) co_return std::string{};
  std::vector<std::string> library{"getconf", "GNU_LIBC_VERSION"};
  CO_TRY(const auto has, co_await run_command(session, std::move(library), false, deadline));
  result.err += has.out;
  co_return why_not(program, result);
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
  const JobHandle job{std::move(job_folder), sudo, folder};
  CO_TRY(const auto node, co_await look_at_node(session, folder, names, job, deadline));
  Brought brought{.started = node.started};
  bool ours = false;
  for (const auto& name : names) {
    CO_TRY(const auto file, shelf.find(name, node.machine));
    if (!file && name == kNodeProgram && node.machine != kOwnMachine)
      brought.why_not = why_none_for(node.machine);
    if (!file) continue;
    const auto sum = node.sums.find(folder + "/" + name);
    const bool has = sum != node.sums.end(), same = has && sum->second == file->sha256;
    if (has && !same && brought.started) continue;
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
