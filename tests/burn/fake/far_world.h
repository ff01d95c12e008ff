#pragma once
// Ranks of the stand-in for NCCL that are in other processes of this machine: the process that made
// the id carries all messages between them, over loopback TCP. An id has NCCL's layout.
#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace cupel::burn::fake {

using IdBytes = std::array<char, 128>;

/// Listens from now on. False: NCCL_SOCKET_IFNAME names another interface than lo.
bool make_far_id(IdBytes& id);

/// What one process has of the world of an id.
class FarWorld {
 public:
  /// Messages for ranks of this process: from, to, data.
  using Deliver = std::function<void(int, int, std::vector<char>)>;

  FarWorld(const IdBytes& id, int ranks, Deliver deliver);
  ~FarWorld();
  FarWorld(const FarWorld&) = delete;
  FarWorld& operator=(const FarWorld&) = delete;

  void join(int rank);
  void post(int from, int to, const void* data, std::size_t bytes);
  bool is_joined() const;
  /// Another process has ended without a word, or cannot be reached.
  bool is_broken() const;
  /// In peace: where the id was made here, when all others have done so.
  void leave();
  /// Without a word.
  void abort();

 private:
  void read();

  const int ranks_;
  const Deliver deliver_;
  int socket_ = -1;
  bool is_home_ = false;  // the id was made in this process
  mutable std::mutex mutex_;
  std::mutex sending_;
  std::condition_variable changed_;
  bool is_joined_ = false, is_broken_ = false, have_all_left_ = false;
  std::thread reader_;
};

}  // namespace cupel::burn::fake
