#pragma once
// One real QEMU: started, spoken to over QMP, ended by its process id. Not what it is made of.
// Source: QEMU Machine Protocol specification (docs/interop/qmp-spec.txt of QEMU).
#include <sys/types.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/task.h"

namespace cupel::rehearsal {

class QemuProcess {
 public:
  static constexpr std::size_t kLongestLine = 64 * 1024;

  struct Sourced {
    std::function<void()> runs;                           // it answers, and its CPU runs
    std::function<void(const std::string& event)> event;  // "RESET", or "refused: ..."
    std::function<void(std::string_view text)> wrote;     // on its serial port
    std::function<void()> ended;                          // whatever ended it; the last of all
  };

  /// `line`: of qemu_machine.h. It runs in the network namespace of the thread that starts it.
  /// Throws where it cannot be started.
  QemuProcess(asio::any_io_executor executor, std::vector<std::string> line, Sourced reported);
  /// Kills it where it is still there.
  ~QemuProcess();
  QemuProcess(const QemuProcess&) = delete;
  QemuProcess& operator=(const QemuProcess&) = delete;

  pid_t pid() const { return pid_; }
  void execute(const std::string& command, json::object arguments = {});
  void type(std::string_view keys);
  /// Not a word to it: as when its cord is pulled.
  void kill() const;

 private:
  using Socket = asio::local::stream_protocol::socket;
  void start(std::vector<std::string> argv, int qmp, int serial);
  void read_qmp();
  void take(std::string_view line);
  void read_serial();
  void wait_for_end();

  Sourced reported_;
  Socket qmp_, serial_;
  asio::posix::stream_descriptor end_;
  // Read, and not yet taken. A read that was aborted looks at it once more after this is gone.
  std::shared_ptr<std::string> lines_ = std::make_shared<std::string>();
  std::array<char, 4096> piece_{};
  pid_t pid_ = -1;
  bool reaped_ = false;
  std::shared_ptr<bool> here_ = std::make_shared<bool>();  // for what completes after it
};

}  // namespace cupel::rehearsal
