#pragma once
// The operating system of one virtual node while it is up: process table, files, boot id. It dies
// with the machine's power; its disk does not.
#include <boost/asio/any_io_executor.hpp>

#include "rehearsal/machine.h"
#include "rehearsal/shell/network.h"
#include "rehearsal/shell/process.h"
#include "rehearsal/tools/gpu_driver.h"

namespace cupel::rehearsal {

class Host {
 public:
  static constexpr std::size_t kMostProcesses = 512;
  static constexpr std::uint64_t kDiskBytes = 256u << 20;

  Host(asio::any_io_executor executor, Machine& machine);

  Machine& machine() { return machine_; }
  const Machine& machine() const { return machine_; }
  FileSystem& disk();
  GpuDriver& gpus() { return gpus_; }
  /// The rack's network; of a node that stands alone, one with nobody else on it.
  Network& network() { return *network_; }
  void join(std::shared_ptr<Network> network) { network_ = std::move(network); }
  /// Of its management network: from where it asks others.
  const std::string& address() const { return address_; }
  void set_address(std::string address) { address_ = std::move(address); }
  asio::any_io_executor executor() const { return executor_; }

  /// Another operating system is on its disk, with a seed as cloud-init knows it ("user-data",
  /// ...), which it heeds when it starts for the first time. `host_key`: "ssh-ed25519 AAAA...".
  void install(std::map<std::string, std::string> seed, const std::string& host_key);

  /// A new process with its parent's files, folder and environment; nullptr where there are too
  /// many.
  ProcessPtr fork(Process* parent, std::string command);
  /// Its body begins on the loop; its end is reported to whoever waits.
  void start(const ProcessPtr& process, Task<int> body);

  /// As kill(2): a number, or -group. False where there is none.
  bool signal(int target, int which);
  ProcessPtr process(int number) const;
  const std::map<int, ProcessPtr>& processes() const { return processes_; }
  std::size_t running() const { return running_; }

  /// A command line as sshd would run it: the root user's login shell, with these three streams.
  ProcessPtr run(std::string command_line, OpenFilePtr in, OpenFilePtr out, OpenFilePtr err,
                 std::map<std::string, std::string> environment,
                 std::function<void(int status)> on_exit);

  /// Kills everything. Bodies end when the loop next runs.
  void kill_all();

  /// Seconds since 1970, as its own clock has them.
  double epoch() const;
  const std::string& boot_id() const { return boot_id_; }
  double booted_at() const { return booted_at_; }

 private:
  void boot();
  void finished(const ProcessPtr& process, int status);

  asio::any_io_executor executor_;
  Machine& machine_;
  FileSystem disk_{kDiskBytes};
  bool planted_ = false;  // a node that was never up has no files yet
  std::map<int, ProcessPtr> processes_;
  std::size_t running_ = 0;
  int next_number_ = 1000;
  std::string boot_id_;
  double booted_at_ = 0;
  GpuDriver gpus_;
  std::shared_ptr<Network> network_ = std::make_shared<Network>();
  std::string address_ = "127.0.0.1";
  std::map<std::string, std::string> seed_{};  // of a system that has not started yet
};

}  // namespace cupel::rehearsal
