#pragma once
// What lies between a console and a BMC, with bad habits: loses, repeats, holds back or damages
// datagrams. A relay with a thread of its own.
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "bmc/ipmi/bytes.h"
#include "inventory/model.h"

namespace cupel::bmc::ipmi {

class Wire {
 public:
  /// What becomes of a datagram: the `number`th, from 0, in its direction.
  using Habit = std::function<std::vector<Bytes>(bool to_bmc, int number, const Bytes& datagram)>;

  /// A BMC that is nowhere (port 0) is one that never answers.
  Wire(inventory::Endpoint bmc, Habit habit);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  inventory::Endpoint endpoint() const { return {"127.0.0.1", port_}; }
  int to_bmc() const;
  int to_console() const;

  /// Everything as it is.
  static std::vector<Bytes> honest(bool, int, const Bytes& datagram) { return {datagram}; }

 private:
  void relay();

  Habit habit_;
  std::uint16_t bmc_port_, port_ = 0, console_port_ = 0;
  int socket_ = -1, wake_ = -1;
  mutable std::mutex mutex_;
  int counts_[2]{};
  std::jthread thread_;
};

}  // namespace cupel::bmc::ipmi
