#pragma once
// curl, driven by the one io_context: handles, sockets, and what curl says of each transfer. It
// knows nothing of BMCs: whom to trust and how often to ask is in transport.cpp.
#include <curl/curl.h>

#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/task.h"
#include "bmc/redfish/reactor.h"
#include "bmc/redfish/tls.h"
#include "bmc/redfish/transport.h"

namespace cupel::bmc::redfish {

/// One request on its way through curl. Must stay where it is from start to end.
struct Transfer {
  explicit Transfer(const asio::any_io_executor& executor, std::shared_ptr<MemoryUse> memory = {})
      : held{std::move(memory)}, wake{executor} {}
  CURL* easy = nullptr;
  curl_slist* headers = nullptr;
  Response response{};
  std::size_t limit = 0;  // of the body
  bool too_large = false;
  bool no_room = false;  // in the memory of this BMC
  HeldMemory held;       // for the body
  bool done = false;
  CURLcode outcome = CURLE_OK;
  std::string reason = std::string(CURL_ERROR_SIZE, '\0');
  asio::steady_timer wake;  // cancelled when there is news
  // Of the connection that this may have to make.
  PinCheck* check = nullptr;
  bool may_resume = false;
  // A stream is read piece by piece: response.body is what nobody has read yet.
  bool streaming = false;
  bool is_file = false;  // the stream is a file
  bool paused = false;
  bool head_came = false;
  /// Asked when the head came: whether the connection is needed after this. Empty: it is.
  std::function<bool()> keeps{};
};

class CurlLoop {
 public:
  /// At most so many connections, and so many to one host.
  CurlLoop(const asio::any_io_executor& executor, int connections, int to_one_host);
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;
  ~CurlLoop();

  /// Gives the transfer a handle with everything set that is the same for every request.
  void equip(Transfer& transfer, const std::string& url);
  /// Sends it on its way; curl calls back from the loop. Must end before the transfer goes.
  void start(Transfer& transfer);
  /// Takes it off curl, done or not, and its handle back.
  void end(Transfer& transfer);
  void resume(Transfer& transfer);

 private:
  static int on_socket(CURL*, curl_socket_t fd, int what, void* self, void*);
  static int on_timer(CURLM*, long milliseconds, void* self);
  static curl_socket_t open_socket(void* self, curlsocktype, curl_sockaddr* address);
  static int close_socket(void* self, curl_socket_t fd);
  void act(curl_socket_t fd, int events);

  std::unordered_set<curl_socket_t> ours_;  // opened by open_socket
  std::vector<CURL*> spare_;
  std::shared_ptr<Reactor> reactor_;
  CURLM* multi_;
};

/// Ends a transfer on every way out, cancelled or not.
class OnTheWay {
 public:
  OnTheWay(CurlLoop& loop, Transfer& transfer) : loop_{loop}, transfer_{transfer} {
    loop_.start(transfer_);
  }
  OnTheWay(const OnTheWay&) = delete;
  OnTheWay& operator=(const OnTheWay&) = delete;
  ~OnTheWay() { loop_.end(transfer_); }

 private:
  CurlLoop& loop_;
  Transfer& transfer_;
};

/// The pin is the authority: no bundle of public ones is loaded, and names in the certificate,
/// which BMCs make up, say nothing. A connection is used again only for the same `generation` of
/// the pin.
void set_pin(Transfer& transfer, PinCheck& check, bool may_resume, int generation);

bool connection_broke(CURLcode outcome);
Code code_of(CURLcode outcome);
/// Why a transfer ended without an answer, in curl's words; in ours where nothing will change it:
/// kUnsupported where the BMC offers only TLS versions that RFC 8996 forbids.
Error failure_of(const Transfer& transfer);

/// How much of a stream waits for its reader before the BMC has to.
inline constexpr std::size_t kStreamBuffer = 256u << 10;

}  // namespace cupel::bmc::redfish
