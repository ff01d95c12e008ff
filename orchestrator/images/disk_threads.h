#pragma once
// Threads that wait for disks, so that those of a server or a controller never do. Work that its
// disk does not end holds one of them. It may outlive its owner: nothing of the owner's is in it.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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
    std::chrono::milliseconds patience{
        30'000};  // for one piece of work, with its wait for a thread
  };
  /// As OpenFile::read.
  using Read = std::function<Result<std::string>(const OpenFile& file, std::uint64_t offset,
                                                 std::size_t size)>;

  DiskThreads(Limits limits, Read read);
  DiskThreads(const DiskThreads&) = delete;
  DiskThreads& operator=(const DiskThreads&) = delete;
  /// Waits for no work.
  ~DiskThreads();

  /// At most `size` bytes of the file from `offset` on; fewer at its end. From any executor whose
  /// handlers run one after the other. Errors: kTimeout, named with the file; as OpenFile::read.
  Task<Result<std::string>> read(OpenFile::Ptr file, std::uint64_t offset, std::size_t size);

  /// What `work`, which reads the file at `path`, comes to. It is run once at most, on a thread,
  /// also to its end where nobody waits for it: what it uses is its own. From any executor whose
  /// handlers run one after the other. Errors: kTimeout, named with the file; as `work`.
  template <class T>
  Task<Result<T>> run(std::string path, std::function<Result<T>()> work) {
    const auto found = std::make_shared<std::optional<Result<T>>>();
    CO_TRY(
        co_await wait_for(std::move(path), [found, todo = std::move(work)] { *found = todo(); }));
    co_return *std::move(*found);
  }

 private:
  Task<Result<void>> wait_for(std::string path, std::function<void()> work);

  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace cupel::images
