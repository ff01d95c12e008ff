#include "orchestrator/images/image_server.h"

#include <boost/asio/post.hpp>

#include "orchestrator/images/http_server.h"
#include "orchestrator/images/served_files.h"

namespace cupel::images {

struct ImageServer::Impl {
  Impl(asio::any_io_executor owner, Log reported)
      : executor{std::move(owner)}, log{std::move(reported)} {}

  HttpAnswer answer(const HttpRequest& request);
  HttpAnswer content(const HttpRequest& request);
  std::string base(bool plain) const;

  asio::any_io_executor executor;
  Log log;
  bool has_tls = false;
  ServedFiles files{};
  std::unique_ptr<HttpServer> server{};  // goes first
};

HttpAnswer ImageServer::Impl::content(const HttpRequest& request) {
  if (request.method != "GET" && request.method != "HEAD")
    return {.status = 405, .allow = "GET, HEAD"};
  const auto file = files.find(request.target, request.peer);
  if (!file || (has_tls && file->grant.plain == request.encrypted)) return {.status = 404};
  return {.status = 200,
          .body = {{.file = file->file, .size = file->file->size()}},
          .ranges = true,
          .is_over = [file] { return file->is_over(); }};
}

HttpAnswer ImageServer::Impl::answer(const HttpRequest& request) {
  auto answer = content(request);
  if (!log) return answer;
  const auto name = answer.status == 200
                        ? std::string{request.target.substr(request.target.rfind('/') + 1)}
                        : std::string{};
  answer.sent = [this, name, peer = request.peer.to_string()](const Sent& sent) {
    Access access{.url = name,
                  .peer = peer,
                  .status = static_cast<int>(sent.status),
                  .bytes = sent.bytes,
                  .whole = sent.whole};
    asio::post(executor, [reported = log, access = std::move(access)] { reported(access); });
  };
  return answer;
}

Result<std::unique_ptr<ImageServer>> ImageServer::start(asio::any_io_executor executor,
                                                        ImageServerOptions options, Log log) {
  auto impl = std::make_shared<Impl>(std::move(executor), std::move(log));
  HttpOptions http{.endpoint = options.endpoint,
                   .host = std::move(options.host),
                   .certificate = std::move(options.certificate),
                   .key = std::move(options.key),
                   .plain_too = true,
                   .threads = options.threads,
                   .connections = options.connections,
                   .connections_per_peer = options.connections_per_peer,
                   .head_patience = options.head_patience,
                   .idle = options.idle,
                   .disk = options.disk,
                   .read = std::move(options.read),
                   .no_handshake = std::move(options.no_handshake)};
  impl->has_tls = !http.certificate.empty();
  const auto answering = [reported = impl.get()](const HttpRequest& request) {
    return reported->answer(request);
  };
  TRY(impl->server, HttpServer::start("image server", std::move(http), answering));
  return std::unique_ptr<ImageServer>{new ImageServer{std::move(impl)}};
}

ImageServer::~ImageServer() = default;

std::string ImageServer::Impl::base(bool plain) const {
  constexpr std::string_view kHttps = "https";
  const auto& url = server->url();
  return plain && has_tls ? "http" + url.substr(kHttps.size()) : url;
}

Result<std::string> ImageServer::grant(Grant grant) {
  const auto base = impl_->base(grant.plain);
  TRY(const auto path, impl_->files.add(std::move(grant)));
  return base + path;
}

void ImageServer::revoke(const std::string& url) {
  for (const bool plain : {false, true}) {
    const auto base = impl_->base(plain);
    if (url.starts_with(base)) return impl_->files.revoke(url.substr(base.size()));
  }
}

Result<void> ImageServer::renew_certificate(const std::string& certificate,
                                            const std::string& key) {
  return impl_->server->renew_certificate(certificate, key);
}

std::uint16_t ImageServer::port() const { return impl_->server->port(); }

}  // namespace cupel::images
