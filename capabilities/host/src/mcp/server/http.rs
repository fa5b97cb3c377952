//! The same over HTTP: a listener of its own, since what reaches it is a program and not an operator's browser.
//!
//! | file | holds |
//! |---|---|
//! | `guard` | what stands before every request: its names, its token, its size, whose session it is |
//! | `people` | one handler for each client, and whose the sessions of the older protocol are |

mod guard;
mod people;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorData, GetPromptRequestParams,
    GetPromptResponse, ListPromptsResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::handler::{self, Handler};
use crate::protocol::Fault;
use crate::service::Service;
use crate::web::{Hosts, PEOPLE, serve_connections};
use people::People;

/// The one address.
pub const PATH: &str = "/mcp";
/// The largest message, in bytes, as on lines.
const MAX_BODY: usize = 8 * 1024 * 1024;

/// What stands before every request, and what it needs.
struct Door {
    service: Arc<Service>,
    hosts: Hosts,
    people: People,
}

/// MCP over HTTP, being served.
pub struct HttpServer {
    address: SocketAddr,
    calls: CancellationToken,
    ending: watch::Sender<bool>,
    served: JoinHandle<()>,
}

impl HttpServer {
    /// Begins to listen, where the configuration says so.
    ///
    /// # Errors
    /// When nobody can listen there.
    pub async fn start(service: &Arc<Service>) -> Result<Option<Self>, Fault> {
        let Some(settings) = &service.host().config().mcp().listen else { return Ok(None) };
        let cannot = |error: std::io::Error| {
            Fault::broken(
                format!("nobody can speak MCP at {}: {error}", settings.listen),
                "name another address with `listen` under `[mcp]` in `config.toml`, or leave the key out",
            )
        };
        let listener = TcpListener::bind(settings.listen).await.map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let sessions = Arc::new(LocalSessionManager::default());
        let door = Arc::new(Door {
            service: Arc::clone(service),
            hosts: Hosts::of(settings, address),
            people: People::new(Arc::clone(&sessions)),
        });
        let (calls, (ending, told)) = (CancellationToken::new(), watch::channel(false));
        // Names and origins are the guard's to check: a list of ours, with the port.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_json_response(true)
            .with_max_request_body_bytes(MAX_BODY)
            .with_cancellation_token(calls.clone());
        let handler = ByRequest { skills: service.host().skills().is_configured() };
        let protocol = StreamableHttpService::new(move || Ok(handler), sessions, config);
        let router = Router::new()
            .route_service(PATH, protocol)
            .fallback(async || guard::Refused::not_found())
            .layer(from_fn_with_state(Arc::clone(&door), guard::guard));
        let served = tokio::spawn(serve_connections(listener, router, PEOPLE, told));
        Ok(Some(Self { address, calls, ending, served }))
    }

    /// Where clients reach it.
    pub fn address(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Calls off what runs, and ends every connection.
    pub async fn close(self) {
        self.calls.cancel();
        let _ = self.ending.send(true);
        let _ = self.served.await;
    }
}

/// The handler of whichever client a request comes from: the guard has found it, and it travels with the request.
#[derive(Clone, Copy)]
struct ByRequest {
    /// Whether the host has skills at all.
    skills: bool,
}

impl ByRequest {
    fn of(context: &RequestContext<RoleServer>) -> Result<Handler, ErrorData> {
        let parts = context.extensions.get::<axum::http::request::Parts>();
        let handler = parts.and_then(|parts| parts.extensions.get::<Handler>()).cloned();
        // Nothing comes here past the guard.
        handler.ok_or_else(|| ErrorData::internal_error("the client of this request was lost", None))
    }
}

impl ServerHandler for ByRequest {
    fn get_info(&self) -> ServerConfig {
        handler::info(self.skills)
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Self::of(&context)?.list_tools(page, context).await
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Self::of(&context)?.call_tool(params, context).await
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Self::of(&context)?.list_prompts(page, context).await
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Self::of(&context)?.get_prompt(params, context).await
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Self::of(&context)?.list_resources(page, context).await
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Self::of(&context)?.read_resource(params, context).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Self::of(&context)?.on_custom_request(request, context).await
    }
}
