#pragma once
// What a file descriptor leads to: a file, a device, an end of a pipe. Shared by the processes that
// inherited it, as in POSIX; the last one to close it closes it.
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "base/task.h"
#include "rehearsal/shell/file_system.h"

namespace cupel::rehearsal {

class Process;

class OpenFile {
 public:
  virtual ~OpenFile() = default;
  /// Appends at most `limit` bytes to `into`. An errno; 0 with nothing appended is the end.
  virtual Task<int> read(Process& process, std::string& into, std::size_t limit);
  /// All of it, or an errno.
  virtual Task<int> write(Process& process, std::string_view bytes);
  virtual InodePtr inode() const { return nullptr; }
};
using OpenFilePtr = std::shared_ptr<OpenFile>;

/// A byte queue between processes, or between a process and an SSH channel.
class Pipe {
 public:
  static constexpr std::size_t kCapacity = 64 * 1024;

  std::string queue{};
  bool writer_gone = false;
  bool reader_gone = false;
  std::size_t capacity = kCapacity;
  std::function<void()> on_data{};  // bytes or the end came: for a reader that is no process
  std::function<void()> on_space{};

  /// The other side looks again.
  void changed();
  void wait(const std::shared_ptr<Process>& process);

 private:
  std::vector<std::weak_ptr<Process>> waiting_{};
};

struct PipeEnds {
  OpenFilePtr reader, writer;
};
PipeEnds make_pipe();
OpenFilePtr pipe_reader(std::shared_ptr<Pipe> pipe);
OpenFilePtr pipe_writer(std::shared_ptr<Pipe> pipe);

/// Opens a node of the file system. `append`: every write goes to the end.
OpenFilePtr open_inode(FileSystem& disk, InodePtr node, bool append);

}  // namespace cupel::rehearsal
