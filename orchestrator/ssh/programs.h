#pragma once
// The programs of ours that nodes run (cupel-node, cupel-burn): where the controller has them, and
// how they come to a node. What is on a node is known by its SHA-256 alone.
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/ssh/node_folders.h"
#include "orchestrator/ssh/ssh.h"

namespace cupel::ssh {

/// The one that looks after jobs.
inline constexpr std::string_view kNodeProgram = "cupel-node";

/// As `uname -m` names the machine that this program was built for. Programs for nodes of another
/// kind lie in a folder of that name: libexec/cupel/aarch64/cupel-node.
#if defined(__aarch64__)
inline constexpr std::string_view kOwnMachine = "aarch64";
#else
inline constexpr std::string_view kOwnMachine = "x86_64";
#endif

struct ProgramFile {
  std::string bytes;
  std::string sha256;
};

/// The controller's own copies, each read once.
class ProgramShelf {
 public:
  ProgramShelf() = default;
  /// The first of the folders that has a program gives it. `on_node`: for tests.
  explicit ProgramShelf(std::vector<std::filesystem::path> folders,
                        std::string on_node = std::string{kProgramFolder})
      : folders_{std::move(folders)}, on_node_{std::move(on_node)} {}

  /// nullptr where no folder has it: what the node has by itself is used then. `machine`: the
  /// node's, as `uname -m` names it; nullptr where it is no such name. Errors: kInvalid for one
  /// that cannot be read, or is larger than 256 MiB.
  Result<std::shared_ptr<const ProgramFile>> find(std::string_view name,
                                                  std::string_view machine = kOwnMachine);
  const std::string& on_node() const { return on_node_; }
  const std::vector<std::filesystem::path>& folders() const { return folders_; }

 private:
  std::vector<std::filesystem::path> folders_{};
  std::string on_node_{kProgramFolder};
  std::map<std::string, std::shared_ptr<const ProgramFile>, std::less<>> read_{};
};

/// `told` alone where a person named one; else where they lie beside the program that runs us: in
/// its own folder, and in ../libexec/cupel of it.
std::vector<std::filesystem::path> program_folders(const std::filesystem::path& reported);

/// How a node stands after its programs were brought.
struct Brought {
  /// The path of the node's cupel-node where it is ours and runs there; else the node has its own,
  /// or none.
  std::optional<std::string> keeper{};
  /// Why ours does not run there, for people: its C library is too old, it is another kind of
  /// machine. Empty where it does, or where the controller has none.
  std::string why_not{};
  /// The job was started before: nothing was replaced.
  bool started = false;
};

/// Brings those of `names` that the shelf has to the node, unless they are there; each is written
/// whole or not at all, and checked by the node's own sha256sum. Where `job_folder` holds a job
/// that was started already, nothing is replaced: what runs stays as it is. Idempotent; cancelled
/// in the middle, it leaves no half program. Errors: as Session::run(); kFailed where the folder
/// cannot be written, another user of the node could have touched it or the job's, or what arrived
/// is not what was sent.
Task<Result<Brought>> ensure_programs(Session& session, ProgramShelf& shelf,
                                      std::vector<std::string> names, std::string job_folder,
                                      bool sudo, Deadline deadline);

}  // namespace cupel::ssh
