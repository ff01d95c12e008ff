#pragma once
// What a stage may write to: a folder of its own, or a device that it holds alone.
//
// Folders for scratch files on file systems that other users may write to. Where a folder is
// writable for all and not sticky, they can rename what root makes there, and lay a link in its
// place: root would write through it. So a stage gets a folder that is proven to be the one that
// was made for it, works inside, and names its files without a path. A node makes real ones
// (node/node_scratch.h), a virtual rack folders of its machine's disk in memory.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace cupel::agent {

/// One of ours, empty when it is made. Removed with the file in it when this goes, and where a
/// signal ends the process.
class ScratchFolder {
 public:
  ScratchFolder() = default;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  virtual ~ScratchFolder() = default;

  /// "cupel-storage.n1.1767225600.812-x7Kd2q": kind, host, when it was made (seconds since 1970),
  /// by which process.
  virtual const std::string& name() const = 0;
  /// Whether a file in it can be written past the page cache (O_DIRECT), tried with one of 1 MiB. A
  /// tool would end over it.
  virtual bool takes_direct() const = 0;
  /// What Programs starts from now on begins in it, and calls its file "./file". False where the
  /// kernel refuses: a tool would write its file elsewhere.
  [[nodiscard]] virtual bool enter() = 0;
};

/// A block device that was opened exclusively (O_EXCL). While this is there nothing can mount it,
/// swap on it or assemble it, and what Programs starts meanwhile inherits the open device: it stays
/// so until the last of them has ended too. Source: open(2), O_EXCL of block devices.
class HeldDevice {
 public:
  HeldDevice() = default;
  HeldDevice(const HeldDevice&) = delete;
  HeldDevice& operator=(const HeldDevice&) = delete;
  virtual ~HeldDevice() = default;
};

class Scratch {
 public:
  /// A folder that is there.
  struct Room {
    std::string path{};  // without links
    std::uint64_t free_kib = 0;
    std::uint64_t device = 0, inode = 0;  // as stat(2) has them: which folder it was

    std::string below(const std::string& name) const {
      return (path == "/" ? "" : path) + "/" + name;
    }
  };
  struct Made {
    std::unique_ptr<ScratchFolder> folder{};
    std::string why{};  // not, where there is none
  };

  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  virtual ~Scratch() = default;

  /// Nothing where there is no such folder.
  virtual std::optional<Room> look(const std::string& folder) const = 0;
  /// Makes one below `room`, which must still be the folder that was looked at. Removes first what
  /// a process of this node that was killed has left of that kind ("cupel-disk").
  virtual Made make(const Room& room, std::string_view kind) = 0;

  static constexpr std::string_view kNoBlockDevice = "it is no block device";
  struct Held {
    std::unique_ptr<HeldDevice> device{};
    std::string why{};  // not, where there is none
  };
  /// Holds "/dev/nvme3n1" if nobody else does, and the device that was opened has that serial
  /// number.
  virtual Held hold(const std::string& device, const std::string& serial) = 0;
};

/// Of a node on which nothing is written: it has no folder.
Scratch& no_scratch();

/// What its name tells of a folder of that kind; nothing of any other name. Seconds are 0 in names
/// as the stages disk and nvme of earlier versions gave them ("cupel-disk.n1.812.x7Kd2q").
struct ScratchName {
  std::string host{};
  std::uint64_t seconds = 0;
  int process = 0;

  static std::optional<ScratchName> read(std::string_view name, std::string_view kind);
  std::string text(std::string_view kind, std::string_view random) const;
};

}  // namespace cupel::agent
