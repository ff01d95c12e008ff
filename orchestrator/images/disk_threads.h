#pragma once
// Threads that wait for disks, so that those of a server never do. A read that its disk does not
// end holds one of them. It may outlive the server: nothing of the server is in it.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/task.h"
#include "orchestrator/images/open_file.h"

namespace cupel::images {

class DiskThreads {
 public:
  /// Begun as they are needed. Whoever reads what hangs waits behind no more than `of_one_file`;
  /// all are held only once so many files hang that this many reads of each are `at_once`.
  struct Limits {
    std::size_t at_once = 32, of_one_file = 4;
    std::chrono::milliseconds patience{30'000};  // for one read, with its wait for a thread
  };
  /// As OpenFile::read.
  using Read = std::function<Result<std::string>(const OpenFile& file, std::uint64_t offset,
                                                 std::size_t size)>;

  DiskThreads(Limits limits, Read read);
  DiskThreads(const DiskThreads&) = delete;
  DiskThreads& operator=(const DiskThreads&) = delete;
  /// Waits for no read.
  ~DiskThreads();

  /// At most `size` bytes of the file from `offset` on; fewer at its end. From any executor whose
  /// handlers run one after the other. Errors: kTimeout, named with the file; as OpenFile::read.
  Task<Result<std::string>> read(OpenFile::Ptr file, std::uint64_t offset, std::size_t size);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace cupel::images
