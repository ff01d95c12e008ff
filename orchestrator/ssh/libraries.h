#pragma once
// The CUDA libraries that cupel-burn opens when it needs them (cuBLASLt, NCCL): most nodes have
// their own. Those that have not are brought the controller's, 760 MB, once, in pieces: what broke
// off goes on where it was. scripts/pack-burn puts them together.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "orchestrator/ssh/programs.h"
#include "orchestrator/ssh/ssh.h"

namespace cupel::ssh {

struct PackedLibrary {
  std::string name;    // "libcublasLt.so.13"
  std::string sha256;  // in hexadecimal
  std::uint64_t size = 0;
  std::filesystem::path file{};
};

/// What `lib/manifest` beside the programs names, in the first folder that has one: a line
/// "SHA256 BYTES NAME" for each. Empty where there is none. Errors: kInvalid: it is none, names
/// more than 1 GiB, or a file has another size than it says.
Result<std::vector<PackedLibrary>> packed_libraries(const ProgramShelf& shelf);

/// Asks the node's cupel-burn which of its libraries it has and can use, and brings what it lacks
/// of the packed ones into lib/ beside it; each is checked by the node's own sha256sum before it
/// bears its name, and again whenever this is called. Brings nothing where the node has no driver
/// that cupel-burn can use: its stages say so. `tell`: how far it is, for people.
/// Idempotent; cut off, it goes on where it was when it is called again. Errors: as Session::run();
/// as packed_libraries(); kFailed where the driver is too old for a packed library, there is no
/// room, what arrived has another checksum, or cupel-burn cannot use it all the same.
Task<Result<void>> ensure_libraries(Session& session, const ProgramShelf& shelf, bool sudo,
                                    std::function<void(const std::string&)> tell,
                                    Deadline deadline);

}  // namespace cupel::ssh
