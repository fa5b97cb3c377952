//! The same over HTTP: a listener of its own, since what reaches it is a program and not an operator's browser.
//!
//! | file | holds |
//! |---|---|
//! | `guard` | what stands before every request: its names, its token, its size, whose session it is |
//! | `people` | one handler for each client, and whose the sessions of the older protocol are |

mod guard;
mod people;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::middleware::from_fn_with_state;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorData, GetPromptRequestParams,
    GetPromptResponse, InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::handler;
use crate::protocol::Fault;
use crate::service::Service;
use crate::web::{Hosts, PEOPLE, serve_connections};
use people::{Admitted, People, Visit};

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
        let skills = service.host().skills().is_configured();
        let handler = move || Ok(ByRequest { skills, visit: OnceLock::new() });
        let protocol = StreamableHttpService::new(handler, sessions, config);
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

/// The handler of whichever client a request comes from: the guard has found it, and it travels with the request. The library
/// has one of these for each session of the older protocol, and one for each request of the newer.
struct ByRequest {
    /// Whether the host has skills at all.
    skills: bool,
    /// Held as long as the session is.
    visit: OnceLock<Visit>,
}

impl ByRequest {
    fn of(context: &RequestContext<RoleServer>) -> Result<&Admitted, ErrorData> {
        let parts = context.extensions.get::<axum::http::request::Parts>();
        let admitted = parts.and_then(|parts| parts.extensions.get::<Admitted>());
        // Nothing comes here past the guard.
        let admitted =
            admitted.ok_or_else(|| ErrorData::internal_error("the client of this request was lost", None))?;
        if context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
            admitted.presence.stays();
        }
        Ok(admitted)
    }
}

impl ServerHandler for ByRequest {
    fn get_info(&self) -> ServerConfig {
        handler::info(self.skills)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let admitted = Self::of(&context)?;
        self.visit.get_or_init(|| admitted.presence.visit());
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let handler = Self::of(&context)?.handler.clone();
        handler.list_tools(page, context).await
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let handler = Self::of(&context)?.handler.clone();
        handler.call_tool(params, context).await
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let handler = Self::of(&context)?.handler.clone();
        handler.list_prompts(page, context).await
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let handler = Self::of(&context)?.handler.clone();
        handler.get_prompt(params, context).await
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let handler = Self::of(&context)?.handler.clone();
        handler.list_resources(page, context).await
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let handler = Self::of(&context)?.handler.clone();
        handler.read_resource(params, context).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let handler = Self::of(&context)?.handler.clone();
        handler.on_custom_request(request, context).await
    }
}
