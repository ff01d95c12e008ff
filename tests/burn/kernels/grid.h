#pragma once
// A grid of blocks of threads on the host. See cuda.h.
#include <cstdint>
#include <functional>
#include <string>

namespace cupel::burn::on_host {

struct Index {
  unsigned x = 0;
};
extern Index threadIdx, blockIdx, blockDim, gridDim;

/// What the threads of a block do together.
enum class Meet { kBarrier, kOr, kShuffle, kEnd };

/// Called within a thread: all threads of the block that have not ended say something, and go on.
/// It must be the same thing that they do: a barrier that some pass by is a failure of the test.
void meet(Meet what, std::uint64_t word);
/// What that thread said at the last meeting.
std::uint64_t described_answer(unsigned thread);
/// Whether any of the block said something other than 0.
bool any_word();

/// Runs `thread` once for each thread of each block.
void run(unsigned blocks, unsigned threads, const std::function<void()>& thread);

/// In its scope grids have fewer blocks than they are launched with: for kernels that stride, which
/// must do all of the work whatever the grid.
class FewBlocks {
 public:
  explicit FewBlocks(unsigned most);
  ~FewBlocks();
  FewBlocks(const FewBlocks&) = delete;
  FewBlocks& operator=(const FewBlocks&) = delete;

 private:
  unsigned before_;
};

/// In its scope the threads of a block take turns from the last to the first: what lacks a barrier
/// comes to something else.
class Backwards {
 public:
  Backwards();
  ~Backwards();
  Backwards(const Backwards&) = delete;
  Backwards& operator=(const Backwards&) = delete;
};

std::uint64_t nanoseconds();

/// What a kernel did that no GPU allows, such as a barrier that some threads pass by. Whoever links
/// this says what becomes of it.
void misused(const std::string& what);

}  // namespace cupel::burn::on_host
