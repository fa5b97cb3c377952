//! What a client asks, and what it is answered.

use core::time::Duration;
use std::sync::Arc;

use capability_core::provider::Diagnostic;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult, ErrorCode,
    ErrorData, GetPromptRequestMethod, GetPromptRequestParams, GetPromptResponse, Implementation,
    ListPromptsRequestMethod, ListPromptsResult, ListResourcesRequestMethod, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestMethod, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;

use super::again;
use super::asker::{Asker, whole};
use super::lift::Arguments;
use super::question::{self, Answer};
use super::turns::Turns;
use super::{result, skills};
use crate::cli::program_name;
use crate::protocol::{
    Caller, Fault, Greeting, McpRequest, Reply, Request, Said, ToolCall, ToolReply, ToolWaits, ToolsShown,
};

/// How many calls of one connection run or wait at a time.
const AT_A_TIME: u32 = 32;
/// How long a client may keep the list of tools, in milliseconds.
const LIST_LASTS: u64 = 30_000;

/// What a client is told about this server before anything else.
const INSTRUCTIONS: &str = "Each tool is a capability of this host. Some calls wait for a person: such an answer says where, \
nothing has happened then, and the same call sent again goes on once it was answered. A person's no is final: do not repeat \
that call unchanged.";

/// One connection, or all that one client does over HTTP.
#[derive(Clone)]
pub struct Handler(Arc<Inner>);

struct Inner {
    asker: Asker,
    caller: Caller,
    turns: Turns,
    patience: Duration,
    room: Semaphore,
    /// Whether the host has skills at all.
    skills: bool,
}

impl Handler {
    /// For one caller.
    pub fn new(asker: Asker, caller: Caller, greeting: &Greeting) -> Self {
        Self(Arc::new(Inner {
            asker,
            caller,
            turns: Turns::new(Duration::from_millis(greeting.turn_ms)),
            patience: Duration::from_millis(greeting.patience_ms),
            room: Semaphore::new(AT_A_TIME as usize),
            skills: greeting.skills,
        }))
    }

    /// Waits until none of its calls runs: one that was called off has left its record then.
    pub async fn idle(&self) {
        let _ = self.0.room.acquire_many(AT_A_TIME).await;
    }

    async fn document<T: DeserializeOwned>(&self, request: McpRequest) -> Result<T, Fault> {
        match self.0.asker.ask(Request::Mcp(request)).await? {
            Reply::Document(value) => serde_json::from_value(value).map_err(|_| strange()),
            Reply::Outcome(_) => Err(strange()),
            Reply::Fault(fault) => Err(fault),
        }
    }

    /// Something that is read and told, unless it is called off.
    async fn told<T: Send>(
        &self,
        context: &RequestContext<RoleServer>,
        read: impl Future<Output = Result<T, Fault>> + Send,
    ) -> Result<T, ErrorData> {
        // Files are read for it: no client has more of that done at a time than of calls.
        let Ok(_room) = self.0.room.try_acquire() else {
            return Err(ErrorData::internal_error("this connection has as many requests under way as it may", None));
        };
        tokio::select! {
            biased;
            () = context.ct.cancelled() => Err(cancelled()),
            read = whole(read) => read.and_then(|read| read).map_err(|fault| match fault.exit {
                // What is not there is the asker's mistake, and no fault of the host's.
                ABSENT => ErrorData::invalid_params(fault.message.clone(), None),
                _ => internal(&fault),
            }),
        }
    }

    fn caller(&self, turn: u64) -> Caller {
        Caller { turn: Some(turn), ..again(&self.0.caller) }
    }

    async fn one(&self, call: &Called<'_>, state: Option<String>, said: Said) -> Result<ToolReply, Fault> {
        let (tool, arguments) = (call.tool.to_owned(), call.arguments.to_owned());
        self.document(McpRequest::Call(ToolCall { tool, arguments, state, said, caller: self.caller(call.turn) })).await
    }

    /// One call, to whatever comes of it.
    async fn call(
        &self,
        params: &CallToolRequestParams,
        arguments: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Ok(_room) = self.0.room.try_acquire() else {
            let busy = "this connection has as many calls under way as it may\nhelp: wait for one of them, then send this again";
            return Ok(CallToolResult::error(vec![ContentBlock::text(busy)]).into());
        };
        let call = Called { tool: &params.name, arguments, turn: self.0.turns.turn() };
        let brought = question::brought(params.input_responses.as_ref());
        let said = brought.map_or(Said::Nothing, Answer::said);
        match (self.one(&call, params.request_state.clone(), said).await, brought) {
            // It was asked and answered, and waits still: asking once more would end no sooner.
            (Ok(ToolReply::Waiting(waits)), Some(brought)) => Ok(result::waits(&waits, &became(brought)).into()),
            (Ok(ToolReply::Waiting(waits)), None) => self.asked(&call, waits, context).await,
            (reply, _) => finished(reply, Age::of(context)),
        }
    }

    /// A call that waits: the person at the client is asked, where there is a way to.
    async fn asked(
        &self,
        call: &Called<'_>,
        waits: ToolWaits,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(way) = question::way(context.client_capabilities().as_ref(), &waits) else {
            return Ok(result::waits(&waits, "").into());
        };
        if Age::of(context) == Age::Newer {
            return Ok(match question::required(way, &waits) {
                Some(required) => required.into(),
                None => result::waits(&waits, "").into(),
            });
        }
        let answer = tokio::select! {
            answer = question::ask(&context.peer, way, &waits, self.0.patience) => answer,
            // Answered in the approval centre meanwhile: nobody has to answer here any more.
            () = self.answered(call, &waits) => Answer::Nothing,
        };
        if answer == Answer::No {
            return Ok(result::waits(&waits, &became(answer)).into());
        }
        match self.one(call, Some(waits.state.clone()), answer.said()).await {
            Ok(ToolReply::Waiting(waits)) => Ok(result::waits(&waits, &became(answer)).into()),
            reply => finished(reply, Age::of(context)),
        }
    }

    /// Ends when the approval is answered elsewhere; never, where that cannot be waited for.
    async fn answered(&self, call: &Called<'_>, waits: &ToolWaits) {
        loop {
            let request = Request::Wait { id: waits.approval, caller: self.caller(call.turn) };
            let waited = match self.0.asker.ask(request).await {
                Ok(Reply::Document(waited)) => waited,
                _ => return core::future::pending().await,
            };
            let told = |key: &str| waited.get(key).and_then(serde_json::Value::as_bool).unwrap_or_default();
            if !told("pending") {
                return;
            }
            if told("crowded") {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

/// The two ages of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Age {
    /// With sessions that are opened by `initialize`.
    Older,
    /// Without, from 2026-07-28 on.
    Newer,
}

impl Age {
    fn of(context: &RequestContext<RoleServer>) -> Self {
        let newer = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        if newer { Self::Newer } else { Self::Older }
    }
}

/// What of a call stays the same however often it is sent.
struct Called<'c> {
    tool: &'c str,
    arguments: &'c str,
    turn: u64,
}

/// What became of the question at the client, before the sentence that the call waits.
fn became(answer: Answer) -> String {
    match answer {
        Answer::No => "the person at this client did not agree; ".to_owned(),
        Answer::Yes => "what was said at this client is no answer of an operator; ".to_owned(),
        Answer::Nothing => String::new(),
    }
}

fn finished(reply: Result<ToolReply, Fault>, age: Age) -> Result<CallToolResponse, ErrorData> {
    match reply {
        Ok(ToolReply::Ended(end)) => Ok(result::ended(&end, age).into()),
        Ok(ToolReply::Waiting(waits)) => Ok(result::waits(&waits, "").into()),
        Ok(ToolReply::Found(found)) => Ok(CallToolResult::structured(found).into()),
        Ok(ToolReply::Refused { message, help }) => {
            let told = format!("{message}{}", result::helped(&help));
            Ok(CallToolResult::error(vec![ContentBlock::text(told)]).into())
        }
        Ok(ToolReply::Unknown(end)) => {
            let (word, told) = (Diagnostic::UnknownTool.as_str(), Diagnostic::UnknownTool.message());
            let where_to_look = "`tools/list` has those that are shown, and `tool_search` finds the others";
            Err(ErrorData::invalid_params(format!("{word}: {told}; {where_to_look}"), Some(result::data(&end))))
        }
        Ok(ToolReply::Stale) => Err(ErrorData::invalid_params(
            "`requestState` belongs to another call, has ended, or is not of this server; send the call without it",
            None,
        )),
        Err(fault) => Ok(result::fault(&fault).into()),
    }
}

fn strange() -> Fault {
    Fault::broken("the host answered something else", "use the same version on both sides")
}

fn internal(fault: &Fault) -> ErrorData {
    ErrorData::internal_error(fault.message.clone(), None)
}

/// The arguments of a call as they were sent: beside the message, or with the request that brought it.
fn arguments(context: &RequestContext<RoleServer>) -> Option<&Arguments> {
    let brought = || context.extensions.get::<axum::http::request::Parts>()?.extensions.get();
    context.extensions.get::<Arguments>().or_else(brought)
}

/// One page is all there is of any list.
fn first(page: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
    match page {
        Some(page) if page.cursor.is_some() => {
            Err(ErrorData::invalid_params("the list has one page: no cursor leads to another", None))
        }
        _ => Ok(()),
    }
}

/// What every server of this host says about itself; what belongs to skills where there are any.
pub fn info(skills: bool) -> ServerConfig {
    let offered = ServerCapabilities::builder().enable_tools();
    let capabilities = if skills { offered.enable_prompts().enable_resources().build() } else { offered.build() };
    let server = Implementation::new(program_name(), env!("CARGO_PKG_VERSION"));
    ServerConfig::new(capabilities).with_server_info(server).with_instructions(INSTRUCTIONS)
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        info(self.0.skills)
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        first(page.as_ref())?;
        let listed = async {
            let ToolsShown { tools, facts, skills } = self.document(McpRequest::Tools(again(&self.0.caller))).await?;
            let mut listed = ListToolsResult::with_all_items(tools.into_iter().map(result::tool).collect());
            let skills = (!skills.is_empty()).then(|| ("skills", serde_json::to_value(&skills).unwrap_or_default()));
            listed.meta = Some(result::meta([("facts", facts)].into_iter().chain(skills)));
            Ok(listed.with_ttl_ms(LIST_LASTS).with_cache_scope(rmcp::model::CacheScope::Private))
        };
        tokio::select! {
            biased;
            () = context.ct.cancelled() => Err(cancelled()),
            listed = whole(listed) => listed.and_then(|listed| listed).map_err(|fault| internal(&fault)),
        }
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(arguments) = arguments(&context) else {
            return Err(ErrorData::internal_error("the arguments of the call were lost", None));
        };
        tokio::select! {
            biased;
            // What runs is called off with it: a worker whose caller is gone is killed.
            () = context.ct.cancelled() => Err(cancelled()),
            called = whole(self.call(&params, &arguments.0, &context)) => called.unwrap_or_else(|fault| Err(internal(&fault))),
        }
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        if !self.0.skills {
            return Err(ErrorData::method_not_found::<ListPromptsRequestMethod>());
        }
        first(page.as_ref())?;
        let listed = self.document(McpRequest::Skills(again(&self.0.caller)));
        self.told(&context, async { listed.await.map(skills::prompts) }).await
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if !self.0.skills {
            return Err(ErrorData::method_not_found::<GetPromptRequestMethod>());
        }
        let given = self.document(McpRequest::Skill(again(&self.0.caller), params.name));
        self.told(&context, async { given.await.map(|given| skills::given(given).into()) }).await
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if !self.0.skills {
            return Err(ErrorData::method_not_found::<ListResourcesRequestMethod>());
        }
        first(page.as_ref())?;
        let listed = self.document::<Vec<_>>(McpRequest::Skills(again(&self.0.caller)));
        self.told(&context, async { listed.await.map(|told| skills::resources(&told)) }).await
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if !self.0.skills {
            return Err(ErrorData::method_not_found::<ReadResourceRequestMethod>());
        }
        let uri = params.uri;
        let Some((name, path)) = skills::named(&uri) else {
            return Err(absent(&uri, "no resource of this server has that address", Age::of(&context)));
        };
        let request = McpRequest::SkillPart(again(&self.0.caller), name.to_owned(), path.to_owned());
        let read = async {
            match self.document(request).await {
                Ok(part) => Ok(Ok(skills::part(&uri, path, part).into())),
                Err(fault) if fault.exit == ABSENT => Ok(Err(absent(&uri, &fault.message, Age::of(&context)))),
                Err(fault) => Err(fault),
            }
        };
        self.told(&context, read).await?
    }

    /// What is none of the methods, or is one with parameters that it cannot have.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method.as_str();
        let skilled = self.0.skills && OF_SKILLS.contains(&method);
        let older = Age::of(&context) == Age::Older && OLDER.contains(&method);
        if skilled || older || KNOWN.contains(&method) {
            return Err(ErrorData::invalid_params("the parameters are not those of this method", None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "this server has no such method", None))
    }
}

/// Methods that this server has where there are skills.
const OF_SKILLS: [&str; 4] = ["prompts/list", "prompts/get", "resources/list", "resources/read"];

/// Methods that this server has.
const KNOWN: [&str; 3] = ["server/discover", "tools/list", "tools/call"];

/// Those of before 2026: for whoever says that it is of a newer age there are none of them.
const OLDER: [&str; 2] = ["initialize", "ping"];

/// How a fault says that there is nothing of that name.
const ABSENT: u8 = 4;

/// No such resource, as either age says it. The address is the asker's own.
fn absent(uri: &str, message: &str, age: Age) -> ErrorData {
    let code = if age == Age::Newer { ErrorCode::INVALID_PARAMS } else { ErrorCode::RESOURCE_NOT_FOUND };
    ErrorData::new(code, message.to_owned(), Some(serde_json::json!({ "uri": uri })))
}

fn cancelled() -> ErrorData {
    ErrorData::internal_error("the call was called off", None)
}
