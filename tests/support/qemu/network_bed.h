#pragma once
// A network of a test's own: a namespace with a bridge and taps for machines, in which the thread
// that made it lives until it lets go of it, with all threads and processes that it starts. Nothing
// of it is seen outside, and nothing is left of it. Only root can make one.
// Source: network_namespaces(7), setns(2).
#include <memory>
#include <string>

namespace cupel::testing {

class NetworkBed {
 public:
  static constexpr const char* kAddress = "10.77.0.1";  // ours, on the bridge, of a /24

  /// The program ip and the rights are there.
  static bool possible();

  /// Taps tap0, tap1, ... Throws where it cannot be made.
  explicit NetworkBed(int taps);
  /// On the thread that made it, after all that runs in it.
  ~NetworkBed();
  NetworkBed(const NetworkBed&) = delete;
  NetworkBed& operator=(const NetworkBed&) = delete;

  static std::string tap(int number) { return "tap" + std::to_string(number); }

 private:
  int before_ = -1;  // the namespace that the thread lived in
};

}  // namespace cupel::testing
