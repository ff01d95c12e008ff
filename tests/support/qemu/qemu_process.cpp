#include "tests/support/qemu/qemu_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <stdexcept>

namespace cupel::rehearsal {
namespace {

void add_channels(std::vector<std::string>& line, int qmp, int serial) {
  const auto socket = [](const char* id, int fd) {
    return "socket,id=" + std::string{id} + ",fd=" + std::to_string(fd);
  };
  for (const auto& word :
       {std::string{"-chardev"}, socket("qmp", qmp), std::string{"-mon"},
        std::string{"chardev=qmp,mode=control"}, std::string{"-chardev"}, socket("serial", serial),
        std::string{"-serial"}, std::string{"chardev:serial"}})
    line.push_back(word);
}

}  // namespace

QemuProcess::QemuProcess(asio::any_io_executor executor, std::vector<std::string> line,
                         Sourced reported)
    : reported_{std::move(reported)}, qmp_{executor}, serial_{executor}, end_{executor} {
  int qmp[2], serial[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, qmp) != 0 ||
      ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, serial) != 0)
    throw std::runtime_error{"no sockets"};
  qmp_.assign(asio::local::stream_protocol{}, qmp[0]);
  serial_.assign(asio::local::stream_protocol{}, serial[0]);
  add_channels(line, qmp[1], serial[1]);
  start(std::move(line), qmp[1], serial[1]);
  ::close(qmp[1]);
  ::close(serial[1]);
  end_.assign(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  execute("qmp_capabilities");
  execute("query-status");
  read_qmp();
  read_serial();
  wait_for_end();
}

void QemuProcess::start(std::vector<std::string> argv, int qmp, int serial) {
  std::vector<char*> pointers;
  for (auto& each : argv) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error{"no process"};
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::fcntl(qmp, F_SETFD, 0);
  ::fcntl(serial, F_SETFD, 0);
  ::execv(pointers[0], pointers.data());
  ::_exit(127);
}

QemuProcess::~QemuProcess() {
  if (reaped_) return;
  kill();
  ::waitpid(pid_, nullptr, 0);
}

void QemuProcess::kill() const {
  if (!reaped_) ::kill(pid_, SIGKILL);
}

/// A line of a few bytes: the socket takes it whole.
void QemuProcess::execute(const std::string& command, json::object arguments) {
  json::object message{{"execute", command}};
  if (!arguments.empty()) message["arguments"] = std::move(arguments);
  boost::system::error_code ignored;  // it has ended: wait_for_end() tells
  asio::write(qmp_, asio::buffer(json::serialize(message) + "\n"), ignored);
}

void QemuProcess::type(std::string_view keys) {
  boost::system::error_code ignored;
  asio::write(serial_, asio::buffer(keys), ignored);
}

void QemuProcess::read_qmp() {
  asio::async_read_until(qmp_, asio::dynamic_buffer(*lines_, kLongestLine), '\n',
                         [this, here = std::weak_ptr{here_}, lines = lines_](
                             boost::system::error_code failed, std::size_t size) {
                           if (failed || here.expired()) return;
                           const auto line = lines->substr(0, size);
                           lines->erase(0, size);
                           take(line);
                           read_qmp();
                         });
}

void QemuProcess::take(std::string_view line) {
  const auto message = parse_json(line);
  if (!message) return;
  if (const auto event = text_at(*message, "event")) reported_.event(*event);
  if (const auto refused = text_at(*message, "error/desc")) reported_.event("refused: " + *refused);
  const auto status = text_at(*message, "return/status");
  if (status == "running") reported_.runs();
}

void QemuProcess::read_serial() {
  serial_.async_read_some(
      asio::buffer(piece_),
      [this, here = std::weak_ptr{here_}](boost::system::error_code failed, std::size_t size) {
        if (failed || here.expired()) return;
        reported_.wrote({piece_.data(), size});
        read_serial();
      });
}

/// Both ends of the sockets close with it, so that nothing is left to read.
void QemuProcess::wait_for_end() {
  end_.async_wait(asio::posix::stream_descriptor::wait_read,
                  [this, here = std::weak_ptr{here_}](boost::system::error_code failed) {
                    if (failed || here.expired()) return;
                    ::waitpid(pid_, nullptr, 0);
                    reaped_ = true;
                    qmp_.close();
                    serial_.close();
                    const auto reported =
                        std::move(reported_);  // whoever is informed may let it go
                    reported.ended();
                  });
}

}  // namespace cupel::rehearsal
