#include "rehearsal/ssh/server.h"

#include <boost/asio/ip/tcp.hpp>

#include "rehearsal/listening.h"
#include "rehearsal/ssh/connection.h"

namespace cupel::rehearsal {

SshServer::SshServer(asio::any_io_executor executor, Host& host, const Key& host_key,
                     const Key& authorized, asio::ip::tcp::endpoint endpoint)
    : executor_{executor},
      host_{host},
      host_key_{host_key},
      authorized_{authorized},
      endpoint_{endpoint},
      reserved_{executor},
      acceptor_{executor} {
  host_.machine().subscribe([this](Machine::Event event) {
    if (stopped_) return;
    if (event == Machine::Event::booted) {
      set_host_key();
      (void)open();
    }
    if (event == Machine::Event::went_down) close();
    if (event == Machine::Event::refitted) set_host_key();
  });
  set_host_key();
}

SshServer::~SshServer() { stop(); }

const Key& SshServer::key_of_now() {
  if (image_key_ != nullptr && host_.machine().up_from_image()) return *image_key_;
  const bool changed =
      find_fault(host_.machine().faults(), FaultKind::ssh_host_key_changed) != nullptr;
  if (changed && !changed_key_) {
    auto key = make_key();
    if (key) changed_key_ = *std::move(key);
  }
  return changed && changed_key_ ? changed_key_ : host_key_;
}

void SshServer::set_host_key() {
  if (bind_) ssh_bind_free(bind_);
  bind_ = ssh_bind_new();
  // libssh takes the key over: it gets a copy.
  char* text = nullptr;
  ssh_key copy = nullptr;
  const auto& key = key_of_now();
  if (ssh_pki_export_privkey_base64(key.get(), nullptr, nullptr, nullptr, &text) == SSH_OK)
    ssh_pki_import_privkey_base64(text, nullptr, nullptr, nullptr, &copy);
  ssh_string_free_char(text);
  if (copy) ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_IMPORT_KEY, copy);
  const bool no = false;
  ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_PROCESS_CONFIG, &no);
}

Result<void> SshServer::bind() {
  boost::system::error_code failure;
  (void)reserved_.open(endpoint_.protocol(), failure);
  if (!failure) (void)reserved_.set_option(asio::socket_base::reuse_address{true}, failure);
  if (!failure) (void)reserved_.bind(endpoint_, failure);
  if (failure) return cannot_listen(endpoint_, failure.message());
  endpoint_.port(reserved_.local_endpoint().port());
  // Only listening says whether somebody else listens there already.
  TRY(open());
  if (!host_.machine().up()) close();
  return ok();
}

Result<void> SshServer::open() {
  if (acceptor_.is_open()) return ok();
  TRY(listen_at(acceptor_, endpoint_));
  accept();
  return ok();
}

void SshServer::accept() {
  acceptor_.async_accept([this](boost::system::error_code failure, asio::ip::tcp::socket socket) {
    if (stopped_ || failure == asio::error::operation_aborted || !acceptor_.is_open()) return;
    if (!failure) took(std::move(socket));
    accept();
  });
}

void SshServer::took(asio::ip::tcp::socket socket) {
  if (connections_.size() >= kMostConnections) return;
  boost::system::error_code ignored;
  (void)socket.set_option(asio::ip::tcp::no_delay{true}, ignored);
  ssh_session session = ssh_new();
  const bool no = false;
  ssh_options_set(session, SSH_OPTIONS_PROCESS_CONFIG, &no);
  const int descriptor = socket.release(ignored);
  if (ssh_bind_accept_fd(bind_, session, descriptor) != SSH_OK) {
    ssh_free(session);
    return;
  }
  const auto connection = std::make_shared<SshConnection>(*this, session);
  connections_.insert(connection);
  connection->start();
}

void SshServer::forget(const std::shared_ptr<SshConnection>& connection) {
  connections_.erase(connection);
}

void SshServer::close() {
  boost::system::error_code ignored;
  (void)acceptor_.close(ignored);
  const auto all = connections_;
  for (const auto& connection : all) connection->cut();
}

void SshServer::stop() {
  if (std::exchange(stopped_, true)) return;
  close();
  boost::system::error_code ignored;
  (void)reserved_.close(ignored);
  if (bind_) ssh_bind_free(bind_);
  bind_ = nullptr;
}

}  // namespace cupel::rehearsal
