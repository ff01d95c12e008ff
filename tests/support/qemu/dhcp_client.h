#pragma once
// A DHCP client of a test: whatever firmware it says that it is, with whatever MAC address, as raw
// frames on an interface that needs no address. Source: RFC 2131, RFC 2132, RFC 4578.
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace cupel::testing {

struct DhcpAsk {
  enum Kind : std::uint8_t { discover = 1, request = 3 };

  std::string mac{};
  Kind kind = discover;
  std::string vendor{};                 // "PXEClient:Arch:00007:UNDI:003000"
  std::optional<std::uint16_t> arch{};  // option 93
  bool ipxe = false;                    // option 175
  std::string server{}, requested{};    // of a request: addresses
};

struct DhcpAnswer {
  int kind = 0;  // 2 offer, 5 acknowledgement, 6 refusal
  std::string address{}, file{};
  std::map<int, std::string> options{};
};

class DhcpClient {
 public:
  /// Throws where there is no such interface, or no right.
  explicit DhcpClient(const std::string& interface);
  ~DhcpClient();
  DhcpClient(const DhcpClient&) = delete;
  DhcpClient& operator=(const DhcpClient&) = delete;

  void send(const DhcpAsk& ask);
  /// Its answer; nothing where none comes in time. What comes for others meanwhile is counted.
  std::optional<DhcpAnswer> answer_to(const DhcpAsk& ask,
                                      std::chrono::seconds patience = std::chrono::seconds{20});
  int answers_to_others() const { return answers_to_others_; }

 private:
  std::optional<DhcpAnswer> read_one();

  int socket_ = -1;
  std::uint32_t transaction_ = 0x43550000;
  int answers_to_others_ = 0;
};

}  // namespace cupel::testing
