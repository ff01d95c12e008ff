#include "burnin/agent/node/boot/failure.h"

namespace cupel::agent::boot {

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::kNoTicket:
      return "no-ticket";
    case Cause::kServer:
      return "server";
    case Cause::kClock:
      return "clock";
    case Cause::kRefused:
      return "refused";
    case Cause::kOrder:
      return "order";
    case Cause::kDiskMissing:
      return "disk-missing";
    case Cause::kDiskAmbiguous:
      return "disk-ambiguous";
    case Cause::kDiskRefused:
      return "disk-refused";
    case Cause::kDiskNotEmpty:
      return "disk-not-empty";
    case Cause::kImageTooLarge:
      return "image-too-large";
    case Cause::kWrongHash:
      return "wrong-hash";
    case Cause::kCut:
      return "cut";
    case Cause::kWriteError:
      return "write-error";
    case Cause::kReadBack:
      return "read-back";
    case Cause::kOutOfMemory:
      return "out-of-memory";
    case Cause::kErase:
      return "erase";
    case Cause::kGrow:
      return "grow";
    case Cause::kSeed:
      return "seed";
    case Cause::kNoEfiVariables:
      return "no-efi-variables";
    case Cause::kNvramFull:
      return "nvram-full";
    case Cause::kBootOrder:
      return "boot-order";
    case Cause::kFailed:
      return "failed";
  }
  return "failed";
}

}  // namespace cupel::agent::boot
