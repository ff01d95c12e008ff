#include "orchestrator/images/image_server.h"

#include <boost/asio/post.hpp>

#include "orchestrator/images/http_server.h"
#include "orchestrator/images/served_files.h"

namespace cupel::images {

struct ImageServer::Impl {
  Impl(asio::any_io_executor owner, Log told) : executor{std::move(owner)}, log{std::move(told)} {}

  HttpAnswer answer(const HttpRequest& request);
  HttpAnswer content(const HttpRequest& request);

  asio::any_io_executor executor;
  Log log;
  ServedFiles files{};
  std::unique_ptr<HttpServer> server{};  // goes first
};

HttpAnswer ImageServer::Impl::content(const HttpRequest& request) {
  if (request.method != "GET" && request.method != "HEAD")
    return {.status = 405, .allow = "GET, HEAD"};
  const auto file = files.find(request.target, request.peer);
  if (!file) return {.status = 404};
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
    asio::post(executor, [told = log, access = std::move(access)] { told(access); });
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
                   .threads = options.threads,
                   .connections = options.connections,
                   .connections_per_peer = options.connections_per_peer,
                   .head_patience = options.head_patience,
                   .idle = options.idle,
                   .disk = options.disk,
                   .read = std::move(options.read)};
  const auto answering = [told = impl.get()](const HttpRequest& request) {
    return told->answer(request);
  };
  TRY(impl->server, HttpServer::start("image server", std::move(http), answering));
  return std::unique_ptr<ImageServer>{new ImageServer{std::move(impl)}};
}

ImageServer::~ImageServer() = default;

Result<std::string> ImageServer::grant(Grant grant) {
  TRY(const auto path, impl_->files.add(std::move(grant)));
  return impl_->server->url() + path;
}

void ImageServer::revoke(const std::string& url) {
  const auto& base = impl_->server->url();
  if (url.starts_with(base)) impl_->files.revoke(url.substr(base.size()));
}

std::uint16_t ImageServer::port() const { return impl_->server->port(); }

}  // namespace cupel::images
