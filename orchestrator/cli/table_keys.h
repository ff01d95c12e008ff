#pragma once
// Keys that move a table on a terminal while its program works. Lines are neither edited nor echoed
// meanwhile; Ctrl-C and Ctrl-Z stay signals. A program in the background neither reads nor changes
// the terminal: it would be stopped (SIGTTIN, SIGTTOU).
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cupel::cli {

enum class TableKey { up, down, page_up, page_down, top, bottom, sort, help };

/// Takes the keys out of what was typed, in their order. What means nothing is dropped; an escape
/// sequence that has not ended yet stays.
std::vector<TableKey> take_keys(std::string& typed);

class TableKeys {
 public:
  using Heard = std::function<void(TableKey)>;

  /// Hears nothing where there is no terminal. Must go before the executor's context.
  TableKeys(const boost::asio::any_io_executor& executor, Heard heard);
  TableKeys(const TableKeys&) = delete;
  TableKeys& operator=(const TableKeys&) = delete;
  ~TableKeys();

  /// Takes the terminal where this program is in its foreground, also again after Ctrl-Z and `fg`.
  /// Whether keys are heard now.
  bool hold();

 private:
  void wait();
  void take();

  boost::asio::posix::stream_descriptor terminal_;
  std::shared_ptr<Heard> heard_;  // gone with this object: a wait may end after it
  std::string typed_{};
  bool waits_ = false;
};

/// For an end of the program without destructors: the terminal as it was before any TableKeys.
void give_terminal_back();

}  // namespace cupel::cli
