#pragma once
// Why a machine does not get its OS, as a name that the boot server and its operator act on.
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/try.h"

namespace cupel::agent::boot {

enum class Cause {
  kNoTicket,       // none of the four ways has one
  kServer,         // the boot server cannot be reached, or answers what it should not
  kClock,          // by this machine's clock the boot server's certificate does not hold
  kRefused,        // it refuses this machine
  kOrder,          // its order cannot be read
  kDiskMissing,    // no disk is the one that the order names
  kDiskAmbiguous,  // several are
  kDiskRefused,    // USB, read-only, mounted, in use, or of large sectors
  kDiskNotEmpty,   // and the order does not say `wipe` with its serial number
  kImageTooLarge,  // for the disk, or for what the order says of it
  kWrongHash,      // of the compressed stream
  kCut,            // the stream ended early
  kWriteError,
  kReadBack,  // the disk returns something else than was written
  kOutOfMemory,
  kErase,
  kGrow,
  kSeed,
  kNoEfiVariables,
  kNvramFull,
  kBootOrder,
  kFailed,  // none of these
};

/// As it stands in `failed`: "disk-missing".
std::string_view to_string(Cause cause);

struct Failure {
  Cause cause{};
  std::string text{};  // what failed, on what, and what to do next
};

/// A value, or a Failure; TRY passes it on.
template <class T>
class [[nodiscard]] Outcome : public std::expected<T, Failure> {
 public:
  using std::expected<T, Failure>::expected;
  Outcome(Failure failure) : std::expected<T, Failure>{std::unexpect, std::move(failure)} {}
};

}  // namespace cupel::agent::boot
