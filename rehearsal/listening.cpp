#include "rehearsal/listening.h"

namespace cupel::rehearsal {

Error cannot_listen(const asio::ip::tcp::endpoint& endpoint, const std::string& why) {
  return Error{Code::kConflict, "cannot listen on " + endpoint.address().to_string() + ":" +
                                    std::to_string(endpoint.port()) + ": " + why};
}

Result<void> listen_at(asio::ip::tcp::acceptor& acceptor, const asio::ip::tcp::endpoint& endpoint) {
  boost::system::error_code failure;
  (void)acceptor.open(endpoint.protocol(), failure);
  if (!failure) (void)acceptor.set_option(asio::socket_base::reuse_address{true}, failure);
  if (!failure) (void)acceptor.bind(endpoint, failure);
  if (!failure) (void)acceptor.listen(128, failure);
  if (!failure) return ok();
  boost::system::error_code ignored;
  (void)acceptor.close(ignored);
  return cannot_listen(endpoint, failure.message());
}

}  // namespace cupel::rehearsal
